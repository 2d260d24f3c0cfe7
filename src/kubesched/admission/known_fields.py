"""The fields of new objects: those that kube-apiserver v1.36.3 publishes in its OpenAPI document, and those that only
others of v1.33 to v1.37 have.

Each line has a type and its fields, in the order of the alphabet; `field:Type` is a field with an object or a list of
objects. `field@34` is there since v1.34, `field@35-35` in v1.35 alone; the others in all of these versions. What only a
server sets (status and managedFields) is not looked into, but for the status of a Node, which people write for a node
that they plan.
"""

from collections.abc import Iterator
from typing import Final

_TEXT: Final = """
AWSElasticBlockStoreVolumeSource = fsType partition readOnly volumeID
Affinity = nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity
AppArmorProfile = localhostProfile type
AzureDiskVolumeSource = cachingMode diskName diskURI fsType kind readOnly
AzureFilePersistentVolumeSource = readOnly secretName secretNamespace shareName
AzureFileVolumeSource = readOnly secretName shareName
CELDeviceSelector = expression
CSIDriver = apiVersion kind metadata:ObjectMeta spec:CSIDriverSpec
CSIDriverSpec = attachRequired fsGroupPolicy nodeAllocatableUpdatePeriodSeconds podInfoOnMount
    preventPodSchedulingIfMissing@36 requiresRepublish seLinuxMount serviceAccountTokenInSecrets@35 storageCapacity
    tokenRequests:TokenRequest volumeLifecycleModes
CSINode = apiVersion kind metadata:ObjectMeta spec:CSINodeSpec
CSINodeDriver = allocatable:VolumeNodeResources name nodeID topologyKeys
CSINodeSpec = drivers:CSINodeDriver
CSIPersistentVolumeSource = controllerExpandSecretRef:SecretReference controllerPublishSecretRef:SecretReference
    driver fsType nodeExpandSecretRef:SecretReference nodePublishSecretRef:SecretReference
    nodeStageSecretRef:SecretReference readOnly volumeAttributes volumeHandle
CSIStorageCapacity = apiVersion capacity kind maximumVolumeSize metadata:ObjectMeta nodeTopology:LabelSelector
    storageClassName
CSIVolumeSource = driver fsType nodePublishSecretRef:LocalObjectReference readOnly volumeAttributes
Capabilities = add drop
CapacityRequirements = requests
CephFSPersistentVolumeSource = monitors path readOnly secretFile secretRef:SecretReference user
CephFSVolumeSource = monitors path readOnly secretFile secretRef:LocalObjectReference user
CinderPersistentVolumeSource = fsType readOnly secretRef:SecretReference volumeID
CinderVolumeSource = fsType readOnly secretRef:LocalObjectReference volumeID
ClientIPConfig = timeoutSeconds
ClusterTrustBundleProjection = labelSelector:LabelSelector name optional path signerName user@37
ConfigMapEnvSource = name optional
ConfigMapKeySelector = key name optional
ConfigMapNodeConfigSource = kubeletConfigKey name namespace resourceVersion uid
ConfigMapProjection = items:KeyToPath name optional
ConfigMapVolumeSource = defaultMode defaultUser@37 items:KeyToPath name optional
Container = args command env:EnvVar envFrom:EnvFromSource image imagePullPolicy lifecycle:Lifecycle
    livenessProbe:Probe name ports:ContainerPort readinessProbe:Probe resizePolicy:ContainerResizePolicy
    resources:ResourceRequirements restartPolicy restartPolicyRules@34:ContainerRestartRule
    securityContext:SecurityContext startupProbe:Probe stdin stdinOnce terminationMessagePath terminationMessagePolicy
    tty volumeDevices:VolumeDevice volumeMounts:VolumeMount workingDir
ContainerClaim = name request
ContainerPort = containerPort hostIP hostPort name protocol
ContainerResizePolicy = resourceName restartPolicy
ContainerRestartRule = action exitCodes:ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes = operator values
CounterSet = counters name
CronJob = apiVersion kind metadata:ObjectMeta spec:CronJobSpec status
CronJobSpec = concurrencyPolicy failedJobsHistoryLimit jobTemplate:JobTemplateSpec schedule startingDeadlineSeconds
    successfulJobsHistoryLimit suspend timeZone
CrossVersionObjectReference = apiVersion kind name
DaemonSet = apiVersion kind metadata:ObjectMeta spec:DaemonSetSpec status
DaemonSetSpec = minReadySeconds revisionHistoryLimit selector:LabelSelector template:PodTemplateSpec
    updateStrategy:DaemonSetUpdateStrategy
DaemonSetUpdateStrategy = rollingUpdate:RollingUpdateDaemonSet type
Deployment = apiVersion kind metadata:ObjectMeta spec:DeploymentSpec status
DeploymentSpec = minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit selector:LabelSelector
    strategy:DeploymentStrategy template:PodTemplateSpec
DeploymentStrategy = rollingUpdate:RollingUpdateDeployment type
Device = allNodes allowMultipleAllocations@34 attributes bindingConditions@34 bindingFailureConditions@34
    bindsToNode@34 capacity consumesCounters:DeviceCounterConsumption name nodeAllocatableResourceMappings@36-36
    nodeAllocatableResources@37 nodeName nodeSelector:NodeSelector taints:Taint
DeviceClaim = config:DeviceClaimConfiguration constraints:DeviceConstraint requests:DeviceRequest
DeviceClaimConfiguration = opaque:OpaqueDeviceConfiguration requests
DeviceClass = apiVersion kind metadata:ObjectMeta spec:DeviceClassSpec
DeviceClassConfiguration = opaque:OpaqueDeviceConfiguration
DeviceClassSpec = config:DeviceClassConfiguration extendedResourceName@34 selectors:DeviceSelector
DeviceConstraint = distinctAttribute@34 matchAttribute requests
DeviceCounterConsumption = compatibilityGroups@37 counterSet counters
DeviceDerivedAttribute = expression name
DeviceRequest = exactly:ExactDeviceRequest firstAvailable:DeviceSubRequest name
DeviceSelector = cel:CELDeviceSelector
DeviceSubRequest = allocationMode capacity@34:CapacityRequirements count derivedAttributes@37:DeviceDerivedAttribute
    deviceClassName name selectors:DeviceSelector tolerations:Toleration
DownwardAPIProjection = items:DownwardAPIVolumeFile
DownwardAPIVolumeFile = fieldRef:ObjectFieldSelector mode path resourceFieldRef:ResourceFieldSelector user@37
DownwardAPIVolumeSource = defaultMode defaultUser@37 items:DownwardAPIVolumeFile
EmptyDirVolumeSource = medium mode@37 sizeLimit
EnvFromSource = configMapRef:ConfigMapEnvSource prefix secretRef:SecretEnvSource
EnvVar = name value valueFrom:EnvVarSource
EnvVarSource = configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector fileKeyRef@34:FileKeySelector
    resourceFieldRef:ResourceFieldSelector secretKeyRef:SecretKeySelector
EphemeralContainer = args command env:EnvVar envFrom:EnvFromSource image imagePullPolicy lifecycle:Lifecycle
    livenessProbe:Probe name ports:ContainerPort readinessProbe:Probe resizePolicy:ContainerResizePolicy
    resources:ResourceRequirements restartPolicy restartPolicyRules@34:ContainerRestartRule
    securityContext:SecurityContext startupProbe:Probe stdin stdinOnce targetContainerName terminationMessagePath
    terminationMessagePolicy tty volumeDevices:VolumeDevice volumeMounts:VolumeMount workingDir
EphemeralVolumeSource = volumeClaimTemplate:PersistentVolumeClaimTemplate
EvictionResponder = name priority
ExactDeviceRequest = adminAccess allocationMode capacity@34:CapacityRequirements count
    derivedAttributes@37:DeviceDerivedAttribute deviceClassName selectors:DeviceSelector tolerations:Toleration
ExecAction = command
FCVolumeSource = fsType lun readOnly targetWWNs wwids
FileKeySelector = key optional path volumeName
FlexPersistentVolumeSource = driver fsType options readOnly secretRef:SecretReference
FlexVolumeSource = driver fsType options readOnly secretRef:LocalObjectReference
FlockerVolumeSource = datasetName datasetUUID
GCEPersistentDiskVolumeSource = fsType partition pdName readOnly
GRPCAction = mode@37 port service
GitRepoVolumeSource = directory repository revision
GlusterfsPersistentVolumeSource = endpoints endpointsNamespace path readOnly
GlusterfsVolumeSource = endpoints path readOnly
HTTPGetAction = host httpHeaders:HTTPHeader path port protocol@37 scheme
HTTPHeader = name value
HorizontalPodAutoscaler = apiVersion kind metadata:ObjectMeta spec:HorizontalPodAutoscalerSpec status
HorizontalPodAutoscalerSpec = behavior maxReplicas metrics minReplicas scaleTargetRef:CrossVersionObjectReference
    targetCPUUtilizationPercentage
HostAlias = hostnames ip
HostPathVolumeSource = path type
ISCSIPersistentVolumeSource = chapAuthDiscovery chapAuthSession fsType initiatorName iqn iscsiInterface lun portals
    readOnly secretRef:SecretReference targetPortal
ISCSIVolumeSource = chapAuthDiscovery chapAuthSession fsType initiatorName iqn iscsiInterface lun portals readOnly
    secretRef:LocalObjectReference targetPortal
ImageVolumeSource = pullPolicy reference
Job = apiVersion kind metadata:ObjectMeta spec:JobSpec status
JobSpec = activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector
    maxFailedIndexes parallelism podFailurePolicy:PodFailurePolicy podReplacementPolicy scheduling@37
    selector:LabelSelector successPolicy:SuccessPolicy suspend template:PodTemplateSpec ttlSecondsAfterFinished
JobTemplateSpec = metadata:ObjectMeta spec:JobSpec
KeyToPath = key mode path user@37
LabelSelector = matchExpressions:LabelSelectorRequirement matchLabels
LabelSelectorRequirement = key operator values
Lifecycle = postStart:LifecycleHandler preStop:LifecycleHandler stopSignal
LifecycleHandler = exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction tcpSocket:TCPSocketAction
LimitRange = apiVersion kind metadata:ObjectMeta spec:LimitRangeSpec
LimitRangeItem = default defaultRequest max maxLimitRequestRatio min type
LimitRangeSpec = limits:LimitRangeItem
LocalObjectReference = name
LocalVolumeSource = fsType path
NFSVolumeSource = path readOnly server
Namespace = apiVersion kind metadata:ObjectMeta spec:NamespaceSpec status
NamespaceSpec = finalizers
Node = apiVersion kind metadata:ObjectMeta spec:NodeSpec status:NodeStatus
NodeAffinity = preferredDuringSchedulingIgnoredDuringExecution:PreferredSchedulingTerm
    requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
NodeConfigSource = configMap:ConfigMapNodeConfigSource
NodePodPreemptionPolicy = disableResizePreemption
NodeSelector = nodeSelectorTerms:NodeSelectorTerm
NodeSelectorRequirement = key operator values
NodeSelectorTerm = matchExpressions:NodeSelectorRequirement matchFields:NodeSelectorRequirement
NodeSpec = configSource:NodeConfigSource externalID podCIDR podCIDRs podPreemptionPolicy@37:NodePodPreemptionPolicy
    providerID taints:Taint unschedulable
NodeStatus = addresses allocatable capacity conditions config daemonEndpoints declaredFeatures@35 features images
    nodeInfo phase runtimeHandlers volumesAttached volumesInUse
ObjectFieldSelector = apiVersion fieldPath
ObjectMeta = annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName
    generation labels managedFields name namespace ownerReferences:OwnerReference resourceVersion selfLink uid
ObjectReference = apiVersion fieldPath kind name namespace resourceVersion uid
OpaqueDeviceConfiguration = driver parameters
Overhead = podFixed
OwnerReference = apiVersion blockOwnerDeletion controller kind name uid
PersistentVolume = apiVersion kind metadata:ObjectMeta spec:PersistentVolumeSpec status
PersistentVolumeClaim = apiVersion kind metadata:ObjectMeta spec:PersistentVolumeClaimSpec status
PersistentVolumeClaimSpec = accessModes dataSource:TypedLocalObjectReference dataSourceRef:TypedObjectReference
    resources:VolumeResourceRequirements selector:LabelSelector storageClassName volumeAttributesClassName volumeMode
    volumeName
PersistentVolumeClaimTemplate = metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource = claimName readOnly
PersistentVolumeSpec = accessModes awsElasticBlockStore:AWSElasticBlockStoreVolumeSource
    azureDisk:AzureDiskVolumeSource azureFile:AzureFilePersistentVolumeSource capacity
    cephfs:CephFSPersistentVolumeSource cinder:CinderPersistentVolumeSource claimRef:ObjectReference
    csi:CSIPersistentVolumeSource fc:FCVolumeSource flexVolume:FlexPersistentVolumeSource flocker:FlockerVolumeSource
    gcePersistentDisk:GCEPersistentDiskVolumeSource glusterfs:GlusterfsPersistentVolumeSource
    hostPath:HostPathVolumeSource iscsi:ISCSIPersistentVolumeSource local:LocalVolumeSource mountOptions
    nfs:NFSVolumeSource nodeAffinity:VolumeNodeAffinity persistentVolumeReclaimPolicy
    photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource
    quobyte:QuobyteVolumeSource rbd:RBDPersistentVolumeSource scaleIO:ScaleIOPersistentVolumeSource storageClassName
    storageos:StorageOSPersistentVolumeSource volumeAttributesClassName volumeMode
    vsphereVolume:VsphereVirtualDiskVolumeSource
PhotonPersistentDiskVolumeSource = fsType pdID
Pod = apiVersion kind metadata:ObjectMeta spec:PodSpec status
PodAffinity = preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm
    requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm
PodAffinityTerm = labelSelector:LabelSelector matchLabelKeys mismatchLabelKeys namespaceSelector:LabelSelector
    namespaces topologyKey
PodAntiAffinity = preferredDuringSchedulingIgnoredDuringExecution:WeightedPodAffinityTerm
    requiredDuringSchedulingIgnoredDuringExecution:PodAffinityTerm
PodCertificateProjection = certificateChainPath credentialBundlePath keyPath keyType maxExpirationSeconds signerName
    user@37 userAnnotations@35
PodDNSConfig = nameservers options:PodDNSConfigOption searches
PodDNSConfigOption = name value
PodDisruptionBudget = apiVersion kind metadata:ObjectMeta spec:PodDisruptionBudgetSpec status
PodDisruptionBudgetSpec = maxUnavailable minAvailable selector:LabelSelector unhealthyPodEvictionPolicy
PodFailurePolicy = rules:PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement = containerName operator values
PodFailurePolicyOnPodConditionsPattern = status type
PodFailurePolicyRule = action onExitCodes:PodFailurePolicyOnExitCodesRequirement
    onPodConditions:PodFailurePolicyOnPodConditionsPattern
PodOS = name
PodReadinessGate = conditionType
PodResourceClaim = name resourceClaimName resourceClaimTemplateName
PodSchedulingGate = name
PodSchedulingGroup = podGroupName
PodSecurityContext = appArmorProfile:AppArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser
    seLinuxChangePolicy seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile supplementalGroups
    supplementalGroupsPolicy sysctls:Sysctl windowsOptions:WindowsSecurityContextOptions
PodSpec = activeDeadlineSeconds affinity:Affinity automountServiceAccountToken containers:Container
    dnsConfig:PodDNSConfig dnsPolicy enableServiceLinks ephemeralContainers:EphemeralContainer
    evictionResponders@37:EvictionResponder hostAliases:HostAlias hostIPC hostNetwork hostPID hostUsers hostname
    hostnameOverride@34 imagePullSecrets:LocalObjectReference initContainers:Container nodeName nodeSelector os:PodOS
    overhead preemptionPolicy priority priorityClassName readinessGates:PodReadinessGate
    resourceClaims:PodResourceClaim resources:ResourceRequirements restartPolicy runtimeClassName schedulerName
    schedulingGates:PodSchedulingGate schedulingGroup@36:PodSchedulingGroup securityContext:PodSecurityContext
    serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds
    tolerations:Toleration topologySpreadConstraints:TopologySpreadConstraint volumes:Volume
    workloadRef@35-35:WorkloadReference
PodTemplateSpec = metadata:ObjectMeta spec:PodSpec
PortworxVolumeSource = fsType readOnly volumeID
PreferredSchedulingTerm = preference:NodeSelectorTerm weight
PriorityClass = apiVersion description globalDefault kind metadata:ObjectMeta preemptionPolicy value
Probe = exec:ExecAction failureThreshold grpc:GRPCAction httpGet:HTTPGetAction initialDelaySeconds periodSeconds
    successThreshold tcpSocket:TCPSocketAction terminationGracePeriodSeconds timeoutSeconds
ProjectedVolumeSource = defaultMode defaultUser@37 sources:VolumeProjection
QuobyteVolumeSource = group readOnly registry tenant user volume
RBDPersistentVolumeSource = fsType image keyring monitors pool readOnly secretRef:SecretReference user
RBDVolumeSource = fsType image keyring monitors pool readOnly secretRef:LocalObjectReference user
ReplicaSet = apiVersion kind metadata:ObjectMeta spec:ReplicaSetSpec status
ReplicaSetSpec = minReadySeconds replicas selector:LabelSelector template:PodTemplateSpec
ReplicationController = apiVersion kind metadata:ObjectMeta spec:ReplicationControllerSpec status
ReplicationControllerSpec = minReadySeconds replicas selector template:PodTemplateSpec
ResourceClaim = apiVersion kind metadata:ObjectMeta spec:ResourceClaimSpec status
ResourceClaimSpec = devices:DeviceClaim
ResourceClaimTemplate = apiVersion kind metadata:ObjectMeta spec:ResourceClaimTemplateSpec
ResourceClaimTemplateSpec = metadata:ObjectMeta spec:ResourceClaimSpec
ResourceFieldSelector = containerName divisor resource
ResourcePool = generation name resourceSliceCount
ResourceQuota = apiVersion kind metadata:ObjectMeta spec:ResourceQuotaSpec status
ResourceQuotaSpec = hard scopeSelector:ScopeSelector scopes
ResourceRequirements = claims:ContainerClaim limits requests
ResourceSlice = apiVersion kind metadata:ObjectMeta spec:ResourceSliceSpec
ResourceSliceSpec = allNodes devices:Device driver nodeName nodeSelector:NodeSelector partitionTypeAttribute@37
    perDeviceNodeSelection pool:ResourcePool sharedCounters:CounterSet skipNodeOperations@37
RollingUpdateDaemonSet = maxSurge maxUnavailable
RollingUpdateDeployment = maxSurge maxUnavailable
RollingUpdateStatefulSetStrategy = maxUnavailable partition
RuntimeClass = apiVersion handler kind metadata:ObjectMeta overhead:Overhead scheduling:Scheduling
SELinuxOptions = level role type user
ScaleIOPersistentVolumeSource = fsType gateway protectionDomain readOnly secretRef:SecretReference sslEnabled
    storageMode storagePool system volumeName
ScaleIOVolumeSource = fsType gateway protectionDomain readOnly secretRef:LocalObjectReference sslEnabled storageMode
    storagePool system volumeName
Scheduling = nodeSelector tolerations:Toleration
ScopeSelector = matchExpressions:ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement = operator scopeName values
SeccompProfile = localhostProfile type
SecretEnvSource = name optional
SecretKeySelector = key name optional
SecretProjection = items:KeyToPath name optional
SecretReference = name namespace
SecretVolumeSource = defaultMode defaultUser@37 items:KeyToPath optional secretName
SecurityContext = allowPrivilegeEscalation appArmorProfile:AppArmorProfile capabilities:Capabilities privileged
    procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seLinuxOptions:SELinuxOptions
    seccompProfile:SeccompProfile windowsOptions:WindowsSecurityContextOptions
Service = apiVersion kind metadata:ObjectMeta spec:ServiceSpec status
ServiceAccountTokenProjection = audience expirationSeconds path user@37
ServicePort = appProtocol name nodePort port protocol targetPort
ServiceSpec = allocateLoadBalancerNodePorts clusterIP clusterIPs externalIPs externalName externalTrafficPolicy
    healthCheckNodePort internalTrafficPolicy ipFamilies ipFamilyPolicy loadBalancerClass loadBalancerIP
    loadBalancerSourceRanges ports:ServicePort publishNotReadyAddresses selector sessionAffinity
    sessionAffinityConfig:SessionAffinityConfig trafficDistribution type
SessionAffinityConfig = clientIP:ClientIPConfig
SleepAction = seconds
StatefulSet = apiVersion kind metadata:ObjectMeta spec:StatefulSetSpec status
StatefulSetOrdinals = start
StatefulSetPersistentVolumeClaimRetentionPolicy = whenDeleted whenScaled
StatefulSetSpec = minReadySeconds ordinals:StatefulSetOrdinals
    persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy podManagementPolicy replicas
    revisionHistoryLimit selector:LabelSelector serviceName template:PodTemplateSpec
    updateStrategy:StatefulSetUpdateStrategy volumeClaimTemplates:PersistentVolumeClaim
StatefulSetUpdateStrategy = rollingUpdate:RollingUpdateStatefulSetStrategy type
StorageClass = allowVolumeExpansion allowedTopologies:TopologySelectorTerm apiVersion kind metadata:ObjectMeta
    mountOptions parameters provisioner reclaimPolicy volumeBindingMode
StorageOSPersistentVolumeSource = fsType readOnly secretRef:ObjectReference volumeName volumeNamespace
StorageOSVolumeSource = fsType readOnly secretRef:LocalObjectReference volumeName volumeNamespace
SuccessPolicy = rules:SuccessPolicyRule
SuccessPolicyRule = succeededCount succeededIndexes
Sysctl = name value
TCPSocketAction = host port
Taint = effect key timeAdded value
TokenRequest = audience expirationSeconds
Toleration = effect key operator tolerationSeconds value
TopologySelectorLabelRequirement = key values
TopologySelectorTerm = matchLabelExpressions:TopologySelectorLabelRequirement
TopologySpreadConstraint = labelSelector:LabelSelector matchLabelKeys maxSkew minDomains nodeAffinityPolicy
    nodeTaintsPolicy topologyKey whenUnsatisfiable
TypedLocalObjectReference = apiGroup kind name
TypedObjectReference = apiGroup kind name namespace
Volume = awsElasticBlockStore:AWSElasticBlockStoreVolumeSource azureDisk:AzureDiskVolumeSource
    azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource cinder:CinderVolumeSource
    configMap:ConfigMapVolumeSource csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource
    emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource fc:FCVolumeSource flexVolume:FlexVolumeSource
    flocker:FlockerVolumeSource gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource
    glusterfs:GlusterfsVolumeSource hostPath:HostPathVolumeSource image:ImageVolumeSource iscsi:ISCSIVolumeSource name
    nfs:NFSVolumeSource persistentVolumeClaim:PersistentVolumeClaimVolumeSource
    photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource
    projected:ProjectedVolumeSource quobyte:QuobyteVolumeSource rbd:RBDVolumeSource scaleIO:ScaleIOVolumeSource
    secret:SecretVolumeSource storageos:StorageOSVolumeSource vsphereVolume:VsphereVirtualDiskVolumeSource
VolumeAttachment = apiVersion kind metadata:ObjectMeta spec:VolumeAttachmentSpec status
VolumeAttachmentSource = inlineVolumeSpec:PersistentVolumeSpec persistentVolumeName
VolumeAttachmentSpec = attacher nodeName source:VolumeAttachmentSource
VolumeDevice = devicePath name
VolumeMount = bindMountOptions@37 mountPath mountPropagation name readOnly recursiveReadOnly subPath subPathExpr
VolumeNodeAffinity = required:NodeSelector
VolumeNodeResources = count
VolumeProjection = clusterTrustBundle:ClusterTrustBundleProjection configMap:ConfigMapProjection
    downwardAPI:DownwardAPIProjection podCertificate@34:PodCertificateProjection secret:SecretProjection
    serviceAccountToken:ServiceAccountTokenProjection
VolumeResourceRequirements = limits requests
VsphereVirtualDiskVolumeSource = fsType storagePolicyID storagePolicyName volumePath
WeightedPodAffinityTerm = podAffinityTerm:PodAffinityTerm weight
WindowsSecurityContextOptions = gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName
WorkloadReference = name podGroup podGroupReplicaKey
"""


def _parse(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Type, field, versions, and the type of the field."""
    for line in text.replace("\n    ", " ").strip().splitlines():
        name, _, fields = line.partition(" = ")
        for field in fields.split():
            field, _, child = field.partition(":")
            field, _, versions = field.partition("@")
            yield name, field, versions, child


def _types() -> dict[str, dict[str, str]]:
    types: dict[str, dict[str, str]] = {}
    for name, field, _, child in _parse(_TEXT):
        types.setdefault(name, {})[field] = child
    return types


def _minors(versions: str) -> tuple[int, int]:
    first, _, last = versions.partition("-")
    return int(first), int(last or _NO_LAST)


_NO_LAST: Final = 999
FIELDS: Final = _types()
"""By type: the type of each field, empty where it holds no object."""

VERSIONS: Final = {(name, field): _minors(versions) for name, field, versions, _ in _parse(_TEXT) if versions}
"""By type and field: the first and the last minor version that have the field, where these are not all."""
