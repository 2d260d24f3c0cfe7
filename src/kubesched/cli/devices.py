"""`kubesched devices`: which devices a cluster has, and who has them."""

import click

from kubesched.cli.cluster import read_cluster
from kubesched.cli.inputs import InputOptions, with_inputs
from kubesched.cli.options import snapshot_options
from kubesched.cli.reports import print_report, report_output_option


@click.command()
@with_inputs()
@snapshot_options
@report_output_option()
def devices(inputs: InputOptions, output: str) -> None:
    """List the devices of a cluster, and the pods that have them.

    Devices of ResourceSlices are counted by driver, DeviceClass and model: free, shared with some left, taken, and
    unusable, as those with a taint and those of a pool that is being updated are. Device plugins have a row for each
    extended resource. -o wide lists each device with its pods and claims. Nothing is changed.

    \b
    Examples:
      kubesched devices cluster.json
      kubesched devices -o wide
      kubesched devices cluster.json -o csv

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input. Without it the
    cluster of the current kubeconfig context is read.
    """  # noqa: D301
    from kubesched.pages.plans import devices_page
    from kubesched.planning import devices as devices_of

    print_report(devices_page(devices_of(read_cluster(inputs))), output)
