package main

import (
	"encoding/json"
	"io"

	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	shim "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfshim"
)

// property is what the engine may send or receive under one name.
type property struct {
	Kind    string               `json:"kind"` // list, one (a list of at most one, flattened) or a type
	Input   bool                 `json:"input"`
	Fields  map[string]*property `json:"fields,omitempty"`
	Element *property            `json:"element,omitempty"`
}

// describe writes every type with its properties as JSON, for a comparison with the SDK.
func describe(info tfbridge.ProviderInfo, to io.Writer) error {
	all := map[string]map[string]*property{}
	for name, known := range info.Resources {
		schema := info.P.ResourcesMap().Get(name).Schema()
		all[string(known.Tok)] = describeProperties(schema, known.Fields)
	}
	for name, known := range info.DataSources {
		schema := info.P.DataSourcesMap().Get(name).Schema()
		all[string(known.Tok)] = describeProperties(schema, known.Fields)
	}
	return json.NewEncoder(to).Encode(all)
}

func describeProperties(
	schemas shim.SchemaMap, infos map[string]*tfbridge.SchemaInfo,
) map[string]*property {
	all := map[string]*property{}
	schemas.Range(func(key string, schema shim.Schema) bool {
		name := tfbridge.TerraformToPulumiNameV2(key, schemas, infos)
		all[name] = describeProperty(schema, infos[key])
		return true
	})
	return all
}

func describeProperty(schema shim.Schema, info *tfbridge.SchemaInfo) *property {
	described := &property{
		Kind:  schema.Type().String(),
		Input: schema.Optional() || schema.Required(),
	}
	isList := schema.Type() == shim.TypeList || schema.Type() == shim.TypeSet
	if isList {
		described.Kind = "list"
		if tfbridge.IsMaxItemsOne(schema, info) {
			described.Kind = "one"
		}
	}
	switch element := schema.Elem().(type) {
	case shim.Resource:
		var inner map[string]*tfbridge.SchemaInfo
		if info != nil && info.Elem != nil {
			inner = info.Elem.Fields
		}
		described.Fields = describeProperties(element.Schema(), inner)
	case shim.Schema:
		if isList {
			var inner *tfbridge.SchemaInfo
			if info != nil {
				inner = info.Elem
			}
			described.Element = describeProperty(element, inner)
		}
	}
	return described
}
