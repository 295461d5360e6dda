package protoschema

import (
	"errors"
	"reflect"
	"testing"

	"github.com/pyplug/pyplug/runner/schema"
)

func TestMethods(t *testing.T) {
	source := compile(t, "m.proto", `syntax = "proto3"; package a.b; message M {}
		service One { rpc Get(M) returns (M); rpc Put(stream M) returns (M); }
		service Two { rpc Get(M) returns (stream M); rpc Both(stream M) returns (stream M); }`)
	again := compile(t, "n.proto", `syntax = "proto3"; package c; message M {} service One { rpc Only(M) returns (M); rpc Get(M) returns (M); }`)
	health := compile(t, "grpc/health/v1/health.proto", `syntax = "proto3"; package grpc.health.v1; message M {} service Health { rpc Check(M) returns (M); }`)
	stdio := compile(t, "stdio.proto", `syntax = "proto3"; package plugin; message M {} service GRPCStdio { rpc StreamStdio(M) returns (M); }`)
	d := merge(t, source, health, again, stdio)
	want := []string{"a.b.One/Get", "One/Put", "Two/Get", "Two/Both", "One/Only", "c.One/Get"}
	got := []string{}
	for _, m := range d.Methods() {
		got = append(got, m.Name())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	streams := []string{"", "in", "out", "both", "", ""}
	for i, m := range d.Methods() {
		if found := m.Describe(schema.Query{}).Streams; found != streams[i] {
			t.Errorf("%s: streams %q, want %q", m.Name(), found, streams[i])
		}
		if found, err := d.Find(m.Name()); err != nil || found.FullName() != m.FullName() {
			t.Errorf("%s is not found by its name: %v", m.Name(), err)
		}
	}
	tests := []struct{ name, want string }{
		{"Put", "a.b.One/Put"}, {"One/Put", "a.b.One/Put"}, {"a.b.One/Put", "a.b.One/Put"}, {"b.One/Get", "a.b.One/Get"},
		{"Both", "a.b.Two/Both"}, {"Two/Get", "a.b.Two/Get"}, {"c.One/Get", "c.One/Get"},
		{"Get", "3 methods have this name, expected one of a.b.One/Get, Two/Get, c.One/Get"},
		{"One/Get", "2 methods have this name, expected one of a.b.One/Get, c.One/Get"},
		{"put", "no such hook"}, {"", "no such hook"}, {"/", "no such hook"}, {"One/", "no such hook"}, {"ne/Put", "no such hook"},
		{"Check", "no such hook"}, {"Health/Check", "no such hook"},
		{"grpc.health.v1.Health/Check", "grpc.health.v1.Health/Check"}, {"plugin.GRPCStdio/StreamStdio", "plugin.GRPCStdio/StreamStdio"},
	}
	for _, test := range tests {
		m, err := d.Find(test.name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = m.FullName()
		}
		if got != test.want {
			t.Errorf("%q: got %s, want %s", test.name, got, test.want)
		}
	}
	for name, want := range map[string][]string{
		"Onyl":         {"Get", "Put", "Get", "Both", "Only", "Get"},
		"One/Onyl":     want,
		"a.b.One/Onyl": want,
	} {
		_, err := d.Find(name)
		var none *schema.NoHookError
		if !errors.As(err, &none) || !reflect.DeepEqual(none.Known, want) {
			t.Errorf("%q: got %#v, want known %v", name, err, want)
		}
	}
}

// TestIsHostService checks that the services of go-plugin are hidden, but not those of the plugin.
func TestIsHostService(t *testing.T) {
	for service, want := range map[string]bool{
		"plugin.GRPCBroker": true, "grpc.health.v1.Health": true, "grpc.reflection.v1.ServerReflection": true,
		"plugin.GRPCStore": false, "zoo.Zoo": false,
	} {
		if got := IsHostService(service); got != want {
			t.Errorf("%s: got %v, want %v", service, got, want)
		}
	}
}
