{{- define "kubesched.labels" -}}
app.kubernetes.io/instance: {{ .Values.scheduler.name }}
app.kubernetes.io/name: kubesched
{{- end }}

{{- /* Labels of the pods and of what selects them. */}}
{{- define "kubesched.podLabels" -}}
app.kubernetes.io/component: scheduler
{{ include "kubesched.labels" . }}
{{- end }}

{{- /* The KubeSchedulerConfiguration: one profile, the Lease, and on top the user's fields. */}}
{{- define "kubesched.configuration" -}}
{{- $scheduler := .Values.scheduler }}
{{- $election := dict "resourceName" $scheduler.name "resourceNamespace" .Release.Namespace }}
{{- $profile := dict "schedulerName" $scheduler.name }}
{{- if $scheduler.replace }}
{{- $election = dict "resourceName" "kube-scheduler" "resourceNamespace" "kube-system" }}
{{- $profile = dict "schedulerName" "default-scheduler" }}
{{- end }}
{{- $points := dict }}
{{- range $key := list "enabled" "disabled" }}
{{- $entries := list }}
{{- range $name := get $.Values.plugins $key }}
{{- $entries = append $entries (dict "name" $name) }}
{{- end }}
{{- if $entries }}
{{- $_ := set $points $key $entries }}
{{- end }}
{{- end }}
{{- if $points }}
{{- $_ := set $profile "plugins" (dict "multiPoint" $points) }}
{{- end }}
{{- with .Values.pluginConfig }}
{{- $_ := set $profile "pluginConfig" . }}
{{- end }}
{{- $made := dict "apiVersion" "kubescheduler.config.k8s.io/v1" "kind" "KubeSchedulerConfiguration" }}
{{- $_ := set $made "profiles" (list $profile) }}
{{- $_ := set $made "leaderElection" $election }}
{{- $made = mergeOverwrite $made (deepCopy .Values.configuration) }}
{{- $_ := set $made.leaderElection "leaderElect" $scheduler.leaderElect }}
{{- toYaml $made }}
{{- end }}

{{- /* What cannot work fails here, before anything is installed. */}}
{{- define "kubesched.check" -}}
{{- $scheduler := .Values.scheduler }}
{{- $configuration := include "kubesched.configuration" . | fromYaml }}
{{- $names := list }}
{{- range $configuration.profiles }}
{{- $names = append $names (get . "schedulerName" | default "default-scheduler") }}
{{- end }}
{{- if not $scheduler.image }}
{{- fail "scheduler.image is empty; give an image with kubesched" }}
{{- end }}
{{- if and (not $scheduler.leaderElect) (gt (int $scheduler.replicaCount) 1) }}
{{- fail (printf "scheduler.leaderElect is false, and %v replicas would all schedule; set scheduler.replicaCount: 1" $scheduler.replicaCount) }}
{{- end }}
{{- if and (has "default-scheduler" $names) (not $scheduler.replace) }}
{{- fail "schedulerName \"default-scheduler\" belongs to the cluster's own kube-scheduler; choose another name, or set scheduler.replace: true" }}
{{- end }}
{{- if and $scheduler.replace (not (has "default-scheduler" $names)) }}
{{- fail (printf "scheduler.replace needs a profile \"default-scheduler\"; found only %s" (join ", " $names)) }}
{{- end }}
{{- $election := $configuration.leaderElection }}
{{- $lease := printf "%s/%s" $election.resourceNamespace $election.resourceName }}
{{- if and $scheduler.leaderElect (eq $lease "kube-system/kube-scheduler") (not $scheduler.replace) }}
{{- fail "the Lease kube-scheduler belongs to kube-scheduler, and this scheduler would wait for it; choose another name, or set scheduler.replace: true" }}
{{- end }}
{{- end }}
