package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gauger/agent/tank"
	"gauger/collectors/sim/sites"
)

// ticket is what is judged of one of the service's run tickets.
type ticket struct {
	Tank struct {
		ExternalID string `json:"externalID"`
	} `json:"tank"`
	OpeningLevel level     `json:"openingLevel"`
	ClosingLevel level     `json:"closingLevel"`
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
	Comments     string    `json:"comments"`

	load *tank.Load // of a detector that was played inside; else nil
}

type level struct {
	Level float64 `json:"level"`
}

var errSaid = regexp.MustCompile(`\berr_bbl=([0-9.]+)`)

// review says that the ticket asks for a person.
func (t ticket) review() bool { return strings.Contains(strings.ToLower(t.Comments), "review") }

// errBbl is the error that the ticket claims at most; false where it claims none.
func (t ticket) errBbl() (float64, bool) {
	found := errSaid.FindStringSubmatch(t.Comments)
	if found == nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(found[1], 64)
	return x, err == nil
}

// play runs the backtest in the site's folder, and leaves that behind only if asked.
func play(exe, folder string, s *sites.Site, keep bool) (outcome, error) {
	if err := os.RemoveAll(folder); err != nil {
		return outcome{}, err
	}
	if err := s.Save(folder); err != nil {
		return outcome{}, err
	}
	cmd := exec.Command(exe, "backtest", "-c", "gauger.yaml", "--readings", "readings.csv", "--format", "json", "--events", "events.json")
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "GAUGER_KEY=unused")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return outcome{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	var tickets []ticket
	if err := json.Unmarshal(out.Bytes(), &tickets); err != nil {
		return outcome{}, fmt.Errorf("tickets: %w", err)
	}
	if keep {
		if err := os.WriteFile(filepath.Join(folder, "tickets.json"), out.Bytes(), 0o644); err != nil {
			return outcome{}, err
		}
	} else if err := os.RemoveAll(folder); err != nil {
		return outcome{}, err
	}
	return match(s, tickets), nil
}
