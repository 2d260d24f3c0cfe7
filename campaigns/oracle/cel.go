package main

import (
	"context"
	"encoding/json"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

type celDevice struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

type celAnswer struct {
	Expression string   `json:"expression"`
	Error      string   `json:"error,omitempty"`   // it does not compile
	Results    []any    `json:"results,omitempty"` // for each device: true, false, or the text of an error
	Costs      []uint64 `json:"costs,omitempty"`   // for each device
}

// selectors compiles and evaluates expressions for devices as the allocator does: {"devices": [...], "expressions": [...]}.
func selectors(file string) {
	var question struct {
		Devices     []celDevice `json:"devices"`
		Expressions []string    `json:"expressions"`
	}
	raw, err := os.ReadFile(file)
	check(err)
	check(json.Unmarshal(raw, &question))
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for _, expression := range question.Expressions {
		answer := celAnswer{Expression: expression}
		compiled := compiler.CompileCELExpression(expression, dracel.Options{})
		if compiled.Error != nil {
			answer.Error = compiled.Error.Detail
		} else {
			for _, d := range question.Devices {
				result, cost := selects(compiled, d)
				answer.Results = append(answer.Results, result)
				answer.Costs = append(answer.Costs, cost)
			}
		}
		check(out.Encode(answer))
	}
}

func selects(compiled dracel.CompilationResult, d celDevice) (any, uint64) {
	device := dracel.Device{Driver: d.Driver, AllowMultipleAllocations: d.AllowMultipleAllocations, Attributes: d.Attributes, Capacity: d.Capacity}
	matches, details, err := compiled.DeviceMatches(context.Background(), device)
	var cost uint64
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	if err != nil {
		return err.Error(), cost
	}
	return matches, cost
}
