package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"linerate/internal/control/notebook"
	"linerate/internal/model/record"
	"linerate/internal/model/study"

	"linerate/internal/model/settingfile"
	"linerate/internal/science/tuning"
)

// keep proves what was kept by itself, and writes it.
func (t *tuner) keep(ctx context.Context, d settingfile.Design, made *record.Run, result *record.Tune) error {
	var kept []settingfile.Kept
	var lines []settingfile.Line
	for _, s := range result.Settings {
		if !s.Keep {
			continue
		}
		i := slices.IndexFunc(t.lines, func(l settingfile.Line) bool { return l.Key == s.Key })
		lines = append(lines, t.lines[i])
		kept = append(kept, settingfile.Kept{Line: t.lines[i], Because: tuning.Because(s)})
	}
	if len(kept) == 0 {
		result.Answer += " Nothing is proven to help at no cost, so that nothing is kept."
		return nil
	}
	proof := &record.TuneProof{Run: made.ID, Effect: result.List}
	if len(lines) < len(t.lines) {
		d.Lines, d.Ablate, d.Question = lines, false, "Do the settings that were kept do it by themselves?"
		again, err := t.conduct(ctx, d)
		if err != nil {
			return err
		}
		judged := tuning.Judge(again, nil)
		proof = &record.TuneProof{Run: again.ID, Effect: judged.List}
	}
	result.Proof = proof
	if !tuning.Proven(proof.Effect) {
		result.Answer += " By themselves the settings that help are not proven to improve anything at no cost, so that nothing is kept."
		return nil
	}
	head := []string{
		fmt.Sprintf("Kept by linerate tune of %s: %s of its settings.", t.name, numberOf(len(kept), len(t.all))),
		fmt.Sprintf("Together %s against as it was, tried on %s (run %s).", tuning.Spelled(proof.Effect), t.file, proof.Run),
	}
	for _, h := range made.Environment.Hosts {
		if slices.Contains(t.hosts, h.Host) {
			head = append(head, fmt.Sprintf("%s: Linux %s", h.Host, h.Kernel))
		}
	}
	text := settingfile.Write(settingfile.FormatFor(t.flags.keep), head, kept)
	if err := writeNew(t.flags.keep, text); err != nil {
		return fmt.Errorf("%w\nWhat was proven:\n%s", err, text)
	}
	result.Kept = t.flags.keep
	return nil
}

func numberOf(n, of int) string { return fmt.Sprintf("%d of %d", n, of) }

// writeNew writes a file that must not be there yet.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// takeUp prepares to keep what a run of tune in the notebook has proven, as if it
// had just been made: its list, and where it was tried.
func (t *tuner) takeUp(made *record.Run, settings []record.TuneSetting) (settingfile.Design, error) {
	var d settingfile.Design
	end := strings.LastIndex(made.StudyFile, "\nfactors:\n")
	switch {
	case len(made.Factors) != 1 || made.Factors[0].Name != settingfile.Factor || end < 0:
		return d, fmt.Errorf("--keep: run %s is not one of linerate tune; expected one, since what is kept is tried once more on its hosts", made.ID)
	case made.Factors[0].Ablate == "" && len(settings) > 1:
		return d, fmt.Errorf("--keep: run %s does not tell the settings of its list apart; expected one with --ablate", made.ID)
	case made.Status == notebook.Interrupted || made.Status == notebook.Running:
		return d, fmt.Errorf("--keep: run %s is not at its end; carry it on first: linerate run --resume %s", made.ID, made.ID)
	}
	t.name, t.file, t.base, t.all = "run "+made.ID, "the hosts of run "+made.ID, []byte(made.StudyFile[:end+1]), settings
	t.flags.set = made.Design.Set
	for _, s := range settings {
		t.lines = append(t.lines, settingfile.Line{Key: s.Key, Value: s.Value})
	}
	var err error
	if t.study, err = study.ParseWith(made.Study, t.base, t.flags.set); err != nil {
		return d, fmt.Errorf("the study of run %s cannot be read any more: %w", made.ID, err)
	}
	return settingfile.Design{
		Name: made.Study, Hosts: t.hosts, Lines: t.lines,
		Notes: []string{"Made by linerate tune from run " + made.ID + "."},
	}, nil
}

// carryOn are the commands that end what was begun.
func (t *tuner) carryOn(run string) string {
	text := resumeCommand(run, runFlags{allowMachine: t.flags.allowMachine})
	if t.flags.keep != "" {
		text += fmt.Sprintf("; then linerate tune --run %s --keep %s", run, quote(t.flags.keep))
		if t.flags.allowMachine {
			text += " --allow-machine-settings"
		}
	}
	return text
}
