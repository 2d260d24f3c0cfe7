"""The feature gates that kube-scheduler knows, version by version.

Rule: what the binaries of v1.33.13, v1.34.4, v1.35.4, v1.36.3 and v1.37.2 say about themselves.
"""

from typing import Final, NamedTuple

FIRST_MINOR: Final = 33
"""The first version of the table; each further column is the next one."""


class FeatureGate(NamedTuple):
    """A gate in one version.

    Attributes:
        is_on: its default.
        is_locked: whether it cannot be set to anything else.
        stage: `a` alpha, `b` beta, `g` GA, `d` deprecated.
    """

    is_on: bool
    is_locked: bool
    stage: str


def feature_gate(name: str, minor: int) -> FeatureGate | None:
    """The gate as a version has it; None where the version does not know it."""
    cells = _GATES.get(name)
    if cells is None or cells[minor - FIRST_MINOR] == "-":
        return None
    cell = cells[minor - FIRST_MINOR]
    return FeatureGate(cell[0].isupper(), cell.endswith("!"), cell[0].lower())


def gates_of(minor: int) -> dict[str, FeatureGate]:
    """All gates of a version by their names, in their order."""
    return {name: known for name in _GATES if (known := feature_gate(name, minor)) is not None}


def minors_with(name: str) -> list[int]:
    """The versions that know a gate; empty for none."""
    cells = _GATES.get(name, ())
    return [FIRST_MINOR + i for i, cell in enumerate(cells) if cell != "-"]


def first_with(name: str) -> int:
    """The first version in which a gate is on by default; 0 for none."""
    minors = minors_with(name)
    return next((minor for minor in minors if (known := feature_gate(name, minor)) and known.is_on), 0)


def gates_needing_others(minor: int) -> dict[str, tuple[str, ...]]:
    """Gates of a version that cannot be on where one of some others is off, with these others; all in their order."""
    if minor < _FIRST_WITH_NEEDS:
        return {}
    return {name: others for name, others in _NEEDS.items() if feature_gate(name, minor) is not None}


_FIRST_WITH_NEEDS: Final = 35
_NEEDS: Final = {
    name: tuple(others)
    for name, *others in map(
        str.split,
        """
ClusterTrustBundleProjection ClusterTrustBundle
CompositePodGroup GenericWorkload TopologyAwareWorkloadScheduling
DRADeviceBindingConditions DRAResourceClaimDeviceStatus
DRADeviceCompatibilityGroups DRAPartitionableDevices
DRADeviceTaintRules DRADeviceTaints
DRAFractionalCapacityRange DRAConsumableCapacity
DRAPartitionableDevicesType DRAPartitionableDevices DRAResourcePoolStatus
DRAResourceClaimGranularStatusAuthorization DRAResourceClaimDeviceStatus
DRAWorkloadResourceClaims GenericWorkload
DeclarativeValidationTakeover DeclarativeValidation
ExtendWebSocketsToKubelet NodeDeclaredFeatures
GangScheduling GenericWorkload
GracefulNodeShutdownBasedOnPodPriority GracefulNodeShutdown
InPlacePodLevelResourcesVerticalScaling NodeDeclaredFeatures PodLevelResources
InPlacePodVerticalScalingInitContainers NodeDeclaredFeatures
MatchLabelKeysInPodTopologySpreadSelectorMerge MatchLabelKeysInPodTopologySpread
NodeControllerLeaseCircuitBreaker AtomicFIFO
PodGroupPreemptionPolicy GenericWorkload
PodLevelResourceManagers PodLevelResources
PodLevelResourcesFixDefaulting PodLevelResources
PodLevelResourcesFixKubeletQOSClass PodLevelResources
ProcMountType UserNamespacesSupport
ResourceHealthStatusMessage ResourceHealthStatus
RestartAllContainersOnContainerExits ContainerRestartRules NodeDeclaredFeatures
StaleControllerConsistencyDaemonSet AtomicFIFO
StaleControllerConsistencyHPA AtomicFIFO
StaleControllerConsistencyJob AtomicFIFO
StaleControllerConsistencyReplicaSet AtomicFIFO
StaleControllerConsistencyStatefulSet AtomicFIFO
StorageVersionAPI APIServerIdentity
TopologyAwareWorkloadScheduling GenericWorkload
UnknownVersionInteroperabilityProxy APIServerIdentity
UserNamespacesHostNetworkSupport UserNamespacesSupport
WindowsGracefulNodeShutdown GracefulNodeShutdown
WorkloadAwarePreemption GangScheduling
WorkloadWithJob GenericWorkload
""".strip().splitlines(),
    )
}

# v1.33 to v1.37. Capital letters: on; !: locked; -: not known. a alpha, b beta, g GA, d deprecated.
_TABLE: Final = """
APIResponseCompression                               B  B  B  B  B
APIServerIdentity                                    B  B  B  B  B
APIServerTracing                                     B  G! G! G! -
APIServerWebhookAuthenticationToken                  -  -  -  -  a
APIServingWithRoutine                                a  a  a  a  a
AggregatedDiscoveryRemoveBetaType                    D  D  D! D! D!
AllAlpha                                             a  a  a  a  a
AllBeta                                              b  b  b  b  b
AllowDNSOnlyNodeCSR                                  d  d  d  d  d
AllowInsecureKubeletCertificateSigningRequests       d  d  d  d  d
AllowOverwriteTerminationGracePeriodSeconds          d  d  d! d! d!
AllowParsingUserUIDFromCertAuth                      B  B  B  B  B
AllowServiceExternalIPs                              -  -  -  G  G
AllowServiceLBStatusOnNonLB                          d! d! -  -  -
AllowUnsafeMalformedObjectDeletion                   a  a  a  a  B
AnonymousAuthConfigurableEndpoints                   B  G! G! G! -
AnyVolumeDataSource                                  G! G! G! G! -
AtomicFIFO                                           -  -  -  B  B
AtomicWriteVolumeUserFields                          -  -  -  -  a
AuthorizeNodeWithSelectors                           B  G! G! G! -
AuthorizePodWebsocketUpgradeCreatePermission         -  -  B  B  B
AuthorizeWithSelectors                               B  G! G! G! -
BtreeWatchCache                                      G! G! G! G! -
CBORServingAndStorage                                a  a  a  a  a
CPUManagerPolicyAlphaOptions                         a  a  a  a  a
CPUManagerPolicyBetaOptions                          B  B  B  B  B
CPUManagerPolicyOptions                              G! G! G! G! G!
CRDObservedGenerationTracking                        -  -  b  B  B
CRDValidationRatcheting                              G! G! G! G! G!
CRIListStreaming                                     -  -  -  a  a
CSIMigrationPortworx                                 G! G! G! -  -
CSIServiceAccountTokenSecrets                        -  -  B  G! G!
CSIVolumeHealth                                      a  a  a  a  a
ChangeContainerStatusOnKubeletRestart                -  -  d  d  d
ClearingNominatedNodeNameAfterBinding                -  a  B  B  B
ClientsAllowCARotation                               -  -  -  B  B
ClientsAllowCBOR                                     a  a  a  a  a
ClientsAllowTLSCacheGC                               -  -  -  B  B
ClientsPreferCBOR                                    a  a  a  a  a
CloudControllerManagerWatchBasedRoutesReconciliation -  -  a  a  a
CloudControllerManagerWebhook                        a  a  a  a  a
ClusterTrustBundle                                   b  b  b  b  G
ClusterTrustBundleProjection                         b  b  b  b  G
ComponentFlagz                                       a  a  a  B  B
ComponentStatusz                                     a  a  a  B  B
CompositePodGroup                                    -  -  -  -  a
ConcurrentWatchObjectDecode                          b  b  b  b  B
ConsistentListFromCache                              B  G! G! G! -
ConsistentListFromCacheSkipTimeoutFallback           -  -  -  -  a
ConstrainedImpersonation                             -  -  a  B  B
ContainerCheckpoint                                  B  B  B  B  B
ContainerRestartRules                                -  a  B  B  B
ContainerStopSignals                                 a  a  a  a  a
CoordinatedLeaderElection                            b  b  b  b  b
CronJobsScheduledAnnotation                          G! G! -  -  -
CrossNamespaceVolumeDataSource                       a  a  a  a  a
CustomCPUCFSQuotaPeriod                              a  a  a  G  G
CustomResourceFieldSelectors                         G! G! G! G! G!
DRAAdminAccess                                       a  B  B  G! G!
DRAConsumableCapacity                                -  a  a  B  B
DRADerivedAttributes                                 -  -  -  -  a
DRADeviceBindingConditions                           -  a  a  B  B
DRADeviceCompatibilityGroups                         -  -  -  -  a
DRADeviceTaintRules                                  -  -  a  b  G
DRADeviceTaints                                      a  a  a  B  G
DRAExtendedResource                                  -  a  a  B  G!
DRAFractionalCapacityRange                           -  -  -  -  b
DRAListTypeAttributes                                -  -  -  a  a
DRANodeAllocatableResources                          -  -  -  a  a
DRAOptionalNodeOperations                            -  -  -  -  a
DRAPartitionableDevices                              a  a  a  B  B
DRAPartitionableDevicesType                          -  -  -  -  a
DRAPrioritizedList                                   a  B  B  G  G!
DRAResourceClaimDeviceStatus                         B  B  B  B  G!
DRAResourceClaimGranularStatusAuthorization          -  -  -  B  B
DRAResourcePoolStatus                                -  -  -  a  a
DRASchedulerFilterTimeout                            -  B  B  B  B
DRAWorkloadResourceClaims                            -  -  -  a  b
DeclarativeValidation                                B  B  B  G! G!
DeclarativeValidationBeta                            -  -  -  B  B
DeclarativeValidationTakeover                        b  b  b  d  d!
DefaultPodSysctls                                    -  -  -  -  a
DeploymentReplicaSetTerminatingReplicas              a  a  B  B  B
DetectCacheInconsistency                             -  B  B  B  B
DevicePluginCDIDevices                               G! -  -  -  -
DisableAllocatorDualWrite                            b  G  G! G! G!
DisableCPUQuotaWithExclusiveCPUs                     B  B  B  D  D!
DisableNodeKubeProxyVersion                          D  D  D  D! D!
DynamicResourceAllocation                            b  G  G! G! G!
ElasticIndexedJob                                    G! -  -  -  -
EmptyDirVolumeMode                                   -  -  -  -  a
EnvFiles                                             -  a  B  B  B
EtcdRangeStream                                      -  -  -  -  B
EventedPLEG                                          a  a  a  a  a
EvictionRequestAPI                                   -  -  -  -  a
ExcludeAdmissionWebhookVirtualResources              -  -  -  -  B
ExecProbeTimeout                                     G  G  G! G! G!
ExtendWebSocketsToKubelet                            -  -  -  B  B
ExternalServiceAccountTokenSigner                    a  B  B  G! G!
GRPCContainerProbeTLS                                -  -  -  -  a
GangScheduling                                       -  -  a  a  -
GenericWorkload                                      -  -  a  a  b
GitRepoVolumeDriver                                  d  d  d  d! d!
GracefulNodeShutdown                                 B  B  B  B  B
GracefulNodeShutdownBasedOnPodPriority               B  B  B  B  B
H2CContainerProbe                                    -  -  -  -  a
HPAConfigurableTolerance                             a  a  B  B  G!
HPAGeneration                                        -  -  -  -  B
HPAOptimizedSelectorStore                            -  -  -  -  B
HPAScaleToZero                                       a  a  a  a  B
HonorPVReclaimPolicy                                 G! G! G! -  -
HostnameOverride                                     -  a  B  B  G!
HugepageAwareEviction                                -  -  -  -  B
ImageMaximumGCAge                                    B  B  G! G! G!
ImageVolume                                          b  b  B  G! G!
ImageVolumeWithDigest                                -  -  -  a  a
InOrderInformers                                     B  B  B  G! G!
InOrderInformersBatchProcess                         -  -  B  B  B
InPlacePodLevelResourcesVerticalScaling              -  -  a  B  B
InPlacePodVerticalScaling                            B  B  G! G! G!
InPlacePodVerticalScalingAllocatedStatus             d  d  d  -  -
InPlacePodVerticalScalingExclusiveCPUs               a  a  a  a  a
InPlacePodVerticalScalingExclusiveMemory             -  a  a  a  a
InPlacePodVerticalScalingInitContainers              -  -  -  B  G!
InPlacePodVerticalScalingMemoryBackedVolumes         -  -  -  -  a
InPlacePodVerticalScalingSchedulerPreemption         -  -  -  -  a
InTreePluginPortworxUnregister                       a  a  a  -  -
InformerResourceVersion                              a  a  G  G  G
InterPodAffinityHostnameFastPath                     -  -  -  -  a
JobBackoffLimitPerIndex                              G! G! G! G! -
JobManagedBy                                         B  B  G! G! G!
JobPodReplacementPolicy                              B  G! G! G! -
JobSuccessPolicy                                     G! G! G! G! -
KMSv1                                                d  d  d  d  d
KubeProxyIPVS                                        -  -  -  -  D
KubeProxyNFTablesLocalhostNodePorts                  -  -  -  -  a
KubeletAllocatedPodsEndpoint                         -  -  -  -  a
KubeletCgroupDriverFromCRI                           B  G! G! G! G!
KubeletCrashLoopBackOffMax                           a  a  B  B  B
KubeletEnsureSecretPulledImages                      a  a  B  B  B
KubeletFineGrainedAuthz                              B  B  B  G! G!
KubeletInUserNamespace                               a  a  a  a  B
KubeletPSI                                           a  B  B  G! G!
KubeletPodResourcesDynamicResources                  a  B  B  G! G!
KubeletPodResourcesGet                               a  B  B  G! G!
KubeletPodResourcesListUseActivePods                 -  D  D  D  D
KubeletRegistrationGetOnExistsOnly                   d  d  d  d  d
KubeletSeparateDiskGC                                B  B  B  B  B
KubeletServiceAccountTokenForCredentialProviders     a  B  B  B  B
KubeletTracing                                       B  G! G! G! G!
LegacySidecarContainers                              d  -  -  -  -
ListFromCacheSnapshot                                a  B  B  B  B
LoadBalancerIPMode                                   G! G! -  -  -
LocalStorageCapacityIsolationFSQuotaMonitoring       b  b  b  b  b
LogarithmicScaleDown                                 G! G! G! G! -
ManifestBasedAdmissionControlConfig                  -  -  -  a  B
MatchLabelKeysInPodAffinity                          G! G! G! G! G!
MatchLabelKeysInPodTopologySpread                    B  B  B  B  B
MatchLabelKeysInPodTopologySpreadSelectorMerge       -  B  B  B  B
MaxUnavailableStatefulSet                            a  a  b  b  B
MemoryManager                                        G! G! G! -  -
MemoryQoS                                            a  a  a  a  B
MultiCIDRServiceAllocator                            G  G! G! G! G!
MutableCSINodeAllocatableCount                       a  b  B  G! G!
MutablePVNodeAffinity                                -  -  a  a  a
MutablePodResourcesForSuspendedJobs                  -  -  a  B  B
MutableSchedulingDirectivesForSuspendedJobs          -  -  a  B  B
MutatingAdmissionPolicy                              a  b  b  G  G
NFTablesNetlink                                      -  -  -  -  B
NFTablesProxyMode                                    G! G! G! G! G!
NodeControllerLeaseCircuitBreaker                    -  -  -  -  B
NodeDeclaredFeatures                                 -  -  a  B  G!
NodeInclusionPolicyInPodTopologySpread               G! G! G! G! G!
NodeLifecycleConditions                              -  -  -  -  a
NodeLogQuery                                         b  b  b  G! G!
NodeSwap                                             B  G! G! G! G!
NominatedNodeNameForExpectation                      -  a  B  B  B
OpenAPIEnums                                         B  B  B  B  B
OpportunisticBatching                                -  -  B  B  B
OrderedNamespaceDeletion                             B  G! G! G! -
PLEGOnDemandRelist                                   -  -  -  B  G!
PersistentVolumeClaimUnusedSinceTime                 -  -  -  a  B
PodAndContainerStatsFromCRI                          a  a  a  a  b
PodCertificateRequest                                -  a  b  b  G
PodDeletionCost                                      B  B  B  B  B
PodDisruptionConditions                              G! -  -  -  -
PodGroupPreemptionPolicy                             -  -  -  -  a
PodIndexLabel                                        G! G! -  -  -
PodLevelResourceManagers                             -  -  -  a  b
PodLevelResources                                    a  B  B  B  B
PodLevelResourcesFixDefaulting                       -  -  -  -  B
PodLevelResourcesFixKubeletQOSClass                  -  -  -  -  B
PodLifecycleSleepAction                              B  G! G! G! -
PodLifecycleSleepActionAllowZero                     B  G! G! G! -
PodLogsQuerySplitStreams                             a  a  a  a  a
PodObservedGenerationTracking                        a  B  G! G! G!
PodReadyToStartContainersCondition                   B  B  B  B  G!
PodSchedulingReadiness                               G! G! G! G! G!
PodTopologyLabelsAdmission                           a  a  B  B  B
PodsAPI                                              -  -  -  a  B
PortForwardWebsockets                                B  B  B  B  B
PreferSameTrafficDistribution                        a  B  G! G! G!
PreventStaticPodAPIReferences                        -  B  B  B  -
ProbeHostPodSecurityStandards                        -  G! -  -  -
ProcMountType                                        B  B  B  G! G!
QOSReserved                                          a  a  a  a  a
RecoverVolumeExpansionFailure                        B  G! G! G! G!
RecursiveReadOnlyMounts                              G! G! G! G! G!
ReduceDefaultCrashLoopBackOffDecay                   a  a  a  a  a
RelaxedDNSSearchValidation                           B  G! G! G! -
RelaxedEnvironmentVariableValidation                 B  G! G! G! G!
RelaxedServiceNameValidation                         -  a  a  B  G!
ReloadKubeletClientCAFile                            -  -  -  B  B
ReloadKubeletServerCertificateFile                   B  B  B  B  B
RemoteRequestHeaderUID                               B  B  B  B  B
ResilientWatchCacheInitialization                    B  G! G! G! -
ResourceHealthStatus                                 a  a  a  B  B
ResourceHealthStatusMessage                          -  -  -  B  B
RestartAllContainersOnContainerExits                 -  -  a  B  B
RetryGenerateName                                    G! G! G! G! -
RotateKubeletServerCertificate                       B  B  B  B  B
RuntimeClassInImageCriApi                            a  a  a  a  a
SELinuxChangePolicy                                  B  B  B  G! G!
SELinuxMount                                         b  b  b  b  G
SELinuxMountReadWriteOncePod                         B  B  B  G! G!
SchedulerAsyncAPICalls                               -  b  b  b  b
SchedulerAsyncPreemption                             B  B  B  B  B
SchedulerPopFromBackoffQ                             B  B  B  B  B
SchedulerPreQueueingHints                            -  -  -  -  a
SchedulerQueueingHints                               B  G! G! G! -
SeparateCacheWatchRPC                                d  d  d  d! d!
SeparateTaintEvictionController                      B  G! G! G! G!
ServiceAccountNodeAudienceRestriction                B  B  B  B  B
ServiceAccountTokenJTI                               G! G! G! G! G!
ServiceAccountTokenNodeBinding                       G! G! G! G! G!
ServiceAccountTokenNodeBindingValidation             G! G! G! G! G!
ServiceAccountTokenPodNodeInfo                       G! G! G! G! G!
ServiceCIDRStatusFieldWiping                         -  -  -  D  D
ServiceTrafficDistribution                           G! G! G! -  -
ShardedListAndWatch                                  -  -  -  a  a
SidecarContainers                                    G! G! G! G! -
SizeBasedListCostEstimate                            -  B  B  B  B
SizeMemoryBackedVolumes                              G! G! -  -  -
StaleControllerConsistencyDaemonSet                  -  -  -  B  B
StaleControllerConsistencyHPA                        -  -  -  -  B
StaleControllerConsistencyJob                        -  -  -  B  B
StaleControllerConsistencyReplicaSet                 -  -  -  B  B
StaleControllerConsistencyStatefulSet                -  -  -  B  B
StatefulSetAutoDeletePVC                             G! G! -  -  -
StatefulSetRecreateStrategy                          -  -  -  -  a
StatefulSetSemanticRevisionComparison                -  B  B  B  B
StatefulSetStartOrdinal                              G! -  -  -  -
StorageCapacityScoring                               a  a  a  a  B
StorageNamespaceIndex                                D  D  D  D  D
StorageVersionAPI                                    a  a  a  a  a
StorageVersionHash                                   B  B  B  B  B
StorageVersionMigrator                               a  a  b  b  G
StreamingCollectionEncodingToJSON                    B  G! G! G! -
StreamingCollectionEncodingToProtobuf                B  G! G! G! -
StrictCostEnforcementForVAP                          G! G! -  -  -
StrictCostEnforcementForWebhooks                     G! G! -  -  -
StrictIPCIDRValidation                               a  a  a  B  B
StructuredAuthenticationConfiguration                B  G! G! G! -
StructuredAuthenticationConfigurationEgressSelector  -  B  B  B  B
StructuredAuthenticationConfigurationJWKSMetrics     -  -  B  B  B
StructuredAuthorizationConfiguration                 G! G! G! -  -
SupplementalGroupsPolicy                             B  B  G! G! G!
SystemdWatchdog                                      B  B  G! G! G!
TaintTolerationComparisonOperators                   -  -  a  a  a
TokenRequestServiceAccountUIDValidation              -  B  B  B  B
TopologyAwareHints                                   G! G! G! -  -
TopologyAwareWorkloadScheduling                      -  -  -  a  a
TopologyManagerPolicyAlphaOptions                    a  a  a  a  a
TopologyManagerPolicyBetaOptions                     B  B  B  B  B
TopologyManagerPolicyOptions                         G  G  G  G! G!
TranslateStreamCloseWebsocketRequests                B  B  B  B  B
UnauthenticatedHTTP2DOSMitigation                    B  B  B  B  B
UnknownVersionInteroperabilityProxy                  a  a  a  B  B
UnlockWhileProcessingFIFO                            -  -  -  B  B
UserNamespacesHostNetworkSupport                     -  -  a  a  a
UserNamespacesPodSecurityStandards                   a  a  -  -  -
UserNamespacesSupport                                B  B  B  G! G!
VolumeAttributesClass                                b  G  G  G! G!
VolumeBindMountOptions                               -  -  -  -  a
VolumeLimitScaling                                   -  -  a  a  B
WatchCacheInitializationPostStartHook                b  b  b  B  G!
WatchFromStorageWithoutResourceVersion               d! d! d! -  -
WatchList                                            b  B  B  B  B
WatchListClient                                      b  b  B  B  B
WatchListCompression                                 -  -  -  -  B
WebhookRoundTripLoadBalancing                        -  -  -  -  B
WinDSR                                               B  G! G! G! G!
WinOverlay                                           B  G! G! G! G!
WindowsCPUAndMemoryAffinity                          a  a  a  a  a
WindowsGracefulNodeShutdown                          a  B  B  B  B
WindowsHostNetwork                                   d  d  d  d  d
WorkloadAwarePreemption                              -  -  -  a  -
WorkloadWithJob                                      -  -  -  a  a
"""
_GATES: Final = {name: tuple(cells) for name, *cells in map(str.split, _TABLE.strip().splitlines())}
