// How BuildKit, which Docker builds with, reads a Dockerfile. In a clone of github.com/moby/buildkit:
//
//	mkdir cmd/read && cp .../tests/sandbox/dockerfiles/read.go cmd/read && go build -o read ./cmd/read
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/solver/pb"
	digest "github.com/opencontainers/go-digest"
)

const config = `{"architecture":"amd64","os":"linux","config":{"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}}`

type images struct{}

func (images) ResolveImageConfig(ctx context.Context, ref string, opt sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return ref, digest.FromString(ref), []byte(config), nil
}

type step map[string]any

func read(text string) (out map[string]any) {
	defer func() {
		if r := recover(); r != nil {
			out = map[string]any{"error": fmt.Sprint(r)}
		}
	}()
	res, err := dockerfile2llb.Dockerfile2LLB(context.Background(), []byte(text), dockerfile2llb.ConvertOpt{MetaResolver: images{}})
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	def, err := res.State.Marshal(context.Background(), llb.LinuxAmd64)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	steps := []step{}
	for _, dt := range def.Def {
		var op pb.Op
		if err := op.Unmarshal(dt); err != nil {
			panic(err)
		}
		switch o := op.Op.(type) {
		case *pb.Op_Source:
			continue
		case *pb.Op_Exec:
			env := map[string]string{}
			for _, e := range o.Exec.Meta.Env {
				k, v, _ := strings.Cut(e, "=")
				env[k] = v
			}
			steps = append(steps, step{"run": o.Exec.Meta.Args, "cwd": o.Exec.Meta.Cwd, "environment": env})
		case *pb.Op_File:
			for _, a := range o.File.Actions {
				switch f := a.Action.(type) {
				case *pb.FileAction_Mkdir:
					steps = append(steps, step{"folder": f.Mkdir.Path})
				case *pb.FileAction_Mkfile:
					steps = append(steps, step{"file": f.Mkfile.Path, "data": string(f.Mkfile.Data)})
				case *pb.FileAction_Copy:
					steps = append(steps, step{"copy": f.Copy.Src, "target": f.Copy.Dest, "mode": f.Copy.Mode, "unpack": f.Copy.AttemptUnpackDockerCompatibility})
				default:
					steps = append(steps, step{"other": fmt.Sprintf("%T", f)})
				}
			}
		}
	}
	env := map[string]string{}
	for _, e := range res.Image.Config.Env {
		k, v, _ := strings.Cut(e, "=")
		env[k] = v
	}
	return map[string]any{"steps": steps, "environment": env, "workdir": res.Image.Config.WorkingDir}
}

// Reads a Dockerfile's text as JSON from each line; writes how BuildKit reads it.
func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var text string
		if err := json.Unmarshal(in.Bytes(), &text); err != nil {
			panic(err)
		}
		read := read(text)
		read["dockerfile"] = text
		out.Encode(read)
	}
}
