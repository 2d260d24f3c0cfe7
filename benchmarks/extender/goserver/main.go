// goserver is the extender to compare with: the plainest one that a Go user writes. net/http and encoding/json decode
// requests into the published extender/v1 types; every node passes the filter, every node gets the middle score.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"

	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		log.Print(err)
	}
}

func filter(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		reply(w, &extenderv1.ExtenderFilterResult{Error: err.Error()})
		return
	}
	reply(w, &extenderv1.ExtenderFilterResult{Nodes: args.Nodes, NodeNames: args.NodeNames})
}

func prioritize(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var scores extenderv1.HostPriorityList
	switch {
	case args.NodeNames != nil:
		scores = make(extenderv1.HostPriorityList, 0, len(*args.NodeNames))
		for _, name := range *args.NodeNames {
			scores = append(scores, extenderv1.HostPriority{Host: name, Score: 5})
		}
	case args.Nodes != nil:
		scores = make(extenderv1.HostPriorityList, 0, len(args.Nodes.Items))
		for i := range args.Nodes.Items {
			scores = append(scores, extenderv1.HostPriority{Host: args.Nodes.Items[i].Name, Score: 5})
		}
	}
	reply(w, scores)
}

func main() {
	port := flag.String("port", "8080", "to listen on, of the loopback address")
	flag.Parse()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /filter", filter)
	mux.HandleFunc("POST /prioritize", prioritize)
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+*port, mux))
}
