// Asks sigs.k8s.io/scheduler-library which nodes each pending pod of a snapshot could go to.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sort"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"sigs.k8s.io/scheduler-library/pkg/framework"
	"sigs.k8s.io/scheduler-library/pkg/upstreamsync/snapshot"
)

type line struct {
	Snapshot string   `json:"snapshot"`
	Pod      string   `json:"pod"`
	Feasible []string `json:"feasible"`
	Error    string   `json:"error,omitempty"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		answer(path, out)
	}
}

func answer(path string, out *json.Encoder) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	objects, nodes, bound, pending := read(path)
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	cfg, err := latest.Default()
	check(err)
	snap := cache.NewSnapshot(bound, nodes) // which panics for a pod on a node that is not there
	profiles, err := framework.NewProfileMap(ctx, client, factory, snap, cfg)
	check(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	cluster := snapshot.New(snap, profiles)
	names := []string{}
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	placement, err := cluster.MakePlacement(names)
	check(err)
	for _, pod := range pending {
		found, _, err := cluster.CanSchedulePod(ctx, pod, placement)
		sort.Strings(found)
		answer := line{Snapshot: path, Pod: pod.Namespace + "/" + pod.Name, Feasible: found}
		if err != nil {
			answer.Error = err.Error()
		}
		check(out.Encode(answer))
	}
}

func read(path string) (objects []runtime.Object, nodes []*v1.Node, bound, pending []*v1.Pod) {
	raw, err := os.ReadFile(path)
	check(err)
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	check(json.Unmarshal(raw, &list))
	var pods []*v1.Pod
	for _, item := range list.Items {
		obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(item, nil, nil)
		check(err)
		switch t := obj.(type) {
		case *v1.Node:
			nodes = append(nodes, t)
		case *v1.Pod:
			if t.Namespace == "" {
				t.Namespace = metav1.NamespaceDefault
			}
			pods = append(pods, t)
		}
		objects = append(objects, obj)
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == "" {
			pending = append(pending, pod)
		} else if slices.ContainsFunc(nodes, func(n *v1.Node) bool { return n.Name == pod.Spec.NodeName }) {
			bound = append(bound, pod)
		}
	}
	return
}
