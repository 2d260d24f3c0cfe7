// The [sig-scheduling] end-to-end tests of Kubernetes, with the flags of its own e2e.test. With E2E_ENDS_WITH_STDIN=1 the
// program ends when its standard input does, so that it does not outlive its parent.
package main

import (
	"flag"
	"io"
	"os"
	"testing"

	"k8s.io/kubernetes/test/e2e"
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"

	_ "k8s.io/kubernetes/test/e2e/scheduling"
)

func TestMain(m *testing.M) {
	if os.Getenv("E2E_ENDS_WITH_STDIN") == "1" {
		go endWithStdin()
	}
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	framework.AfterReadingAllFlags(&framework.TestContext)
	os.Exit(m.Run())
}

func endWithStdin() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func TestE2E(t *testing.T) { e2e.RunE2ETests(t) }
