// Command sbom prints the bill of materials of a built program, as CycloneDX 1.5 in JSON: the modules that are linked into
// it as the program itself says, which of them needs which by the module graph, and the licences that they bring.
//
// main.go reads the program and the graph, bill.go has the document's shape and knows a licence by its words.
//
// It is no tool from elsewhere: what it has to know is what Go's own commands say, and the same commit must give the same bytes.
// A module whose licence it does not know ends it with an error, so that no package goes out with a gap.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM VERSION > bill.cdx.json, in the folder of the module, with SOURCE_DATE_EPOCH set")
		os.Exit(2)
	}
	bill, err := billOf(os.Args[1], os.Args[2])
	if err == nil {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		err = out.Encode(bill)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// billOf reads what is linked into program.
func billOf(program, version string) (*bill, error) {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH must be the commit's time in seconds: %w", err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("%s does not say what it is built of: %w", program, err)
	}
	goroot, err := output("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	parts := []part{{path: "std", version: strings.TrimPrefix(info.GoVersion, "go"), folder: strings.TrimSpace(goroot)}}
	for _, dep := range info.Deps {
		folder, err := output("list", "-m", "-f", "{{.Dir}}", dep.Path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{dep.Path, dep.Version, strings.TrimSpace(folder)})
	}
	graph, err := output("mod", "graph")
	if err != nil {
		return nil, err
	}
	return newBill(info.Main.Path, version, sha256.Sum256(content), time.Unix(epoch, 0).UTC(), parts, graph)
}

func output(args ...string) (string, error) {
	b, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return string(b), nil
}
