import pytest

from kubesched.config import bracketed
from tests.config.loading import error_of, first_line, load

REMOVED = 'was invalid in version "v1" (KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")'
GATE = "remove it or turn on the feature gate StorageCapacityScoring"


# Recorded from kube-scheduler v1.36.3; tests/golden/config-errors.json holds the findings that stand alone.
@pytest.mark.parametrize(
    ("body", "findings"),
    [
        (
            "parallelism: 0\npercentageOfNodesToScore: 101\nprofiles: [{schedulerName: ''},{schedulerName: ''}]",
            [
                "parallelism: Invalid value: 0: should be an integer value greater than zero",
                "profiles[0].schedulerName: Required value",
                "profiles[1].schedulerName: Required value",
                "profiles[1].schedulerName: Duplicate value: {}",
                "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
            ],
        ),
        (
            "profiles: [{schedulerName: a, pluginConfig: [{name: X},{name: X},{name: X}]},{schedulerName: a}]",
            [
                'profiles[0].pluginConfig[1]: Duplicate value: "X"',
                'profiles[0].pluginConfig[2]: Duplicate value: "X"',
                "profiles[1].schedulerName: Duplicate value: {}",
            ],
        ),
        (
            "leaderElection: {leaseDuration: -5s, retryPeriod: 90m}",
            [
                'leaderElection.leaseDuration: Invalid value: "-5s": must be greater than zero',
                'leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`',
            ],
        ),
        (
            "profiles: [{percentageOfNodesToScore: 101}]",
            ["profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"],
        ),
        (
            "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}, pluginConfig: [{name: EBSLimits}]}]",
            [
                f'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": {REMOVED}',
                f'profiles[0].pluginConfig[0]: Invalid value: "EBSLimits": {REMOVED}',
            ],
        ),
        (
            "profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: Foo}]}}},{schedulerName: b}]",
            [
                (
                    'profiles[1].plugins.queueSort: Invalid value: {"Enabled":null,"Disabled":null}: '
                    "must be the same for all profiles"
                )
            ],
        ),
        (
            (
                "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: []}},"
                " {name: DynamicResources, args: {filterTimeout: -1s, bindingTimeout: 1ms}}]}]"
            ),
            [
                f"profiles[0].pluginConfig[0].args.shape: Invalid value: []: unexpected field `shape`, {GATE}",
                'profiles[0].pluginConfig[1].args.filterTimeout: Invalid value: "-1s": must be zero or positive',
                'profiles[0].pluginConfig[1].args.bindingTimeout: Invalid value: "1ms": must be at least 1 second',
            ],
        ),
        (
            "extenders: [{managedResources: [{name: a.b/c},{name: a.b/c}]},{bindVerb: b},{bindVerb: b},{bindVerb: b}]",
            [
                (
                    "extenders[0].managedResources[1].name: Invalid value: "
                    '"a.b/c": duplicate extender managed resource name'
                ),
                'extenders: Invalid value: "found 3 extenders implementing bind": only one extender can implement bind',
            ],
        ),
    ],
)
def test_findings_are_collected_in_upstream_order_and_words(body, findings):
    assert first_line(error_of(body)) == bracketed(findings)


def test_a_queue_sort_plugin_has_the_same_arguments_everywhere():
    sorted_by_foo = "plugins: {queueSort: {enabled: [{name: Foo}]}}"
    message = error_of(
        f"profiles: [{{schedulerName: a, {sorted_by_foo}, pluginConfig: [{{name: Foo, args: {{a: 1}}}}]}},"
        f"{{schedulerName: b, {sorted_by_foo}, pluginConfig: [{{name: Foo, args: {{a: 2}}}}]}}]"
    )
    path = "profiles[1].pluginConfig.args"
    assert message == f'{path}: Invalid value: {{"a":2}}: queueSort must be the same for all profiles'


@pytest.mark.parametrize(
    "body",
    [
        "leaderElection: {leaderElect: false, leaseDuration: -5s, resourceLock: x}",
        "extenders: [{urlPrefix: '', filterVerb: f}]",
        "profiles: [{plugins: {multiPoint: {enabled: [{name: EBSLimits}]}}}]",
        "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Best}}}]}]",
    ],
)
def test_what_upstream_does_not_look_at_here_passes(body):
    assert load(body).profiles


def test_the_help_names_where_and_what_to_do():
    message = error_of("extenders: [{managedResources: [{name: cpu}]}]")
    assert message.splitlines()[1] == (
        "  extenders[0].managedResources[0].name: an extended resource has a domain that is not Kubernetes' "
        "own, such as example.com/gpu"
    )
