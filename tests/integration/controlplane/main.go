// A test control plane in one binary: etcd, kube-apiserver, kube-controller-manager and kube-scheduler as subcommands,
// and one that makes the key for service account tokens.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

const usage = `usage: controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler [flags]
       controlplane rsa-key                     print a new RSA key

With CONTROLPLANE_ENDS_WITH_STDIN=1 a component ends when its standard input does, so that none outlives its parent.`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if os.Getenv("CONTROLPLANE_ENDS_WITH_STDIN") == "1" {
		go endWithStdin()
	}
	name := os.Args[1]
	os.Args = append([]string{name}, os.Args[2:]...)
	var cmd *cobra.Command
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		cmd = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		cmd = controllers.NewControllerManagerCommand()
	case "kube-scheduler":
		cmd = scheduler.NewSchedulerCommand()
	case "rsa-key":
		printKey()
		return
	default:
		fmt.Fprintf(os.Stderr, "unknown component %q\n%s\n", name, usage)
		os.Exit(2)
	}
	os.Exit(cli.Run(cmd))
}

func endWithStdin() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func printKey() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err == nil {
		err = pem.Encode(os.Stdout, &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
