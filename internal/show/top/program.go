package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"linerate/internal/model/plain"
	"linerate/internal/model/record"
)

// Source gives samples, of one host or of several.
type Source interface {
	// Name is that of its host; empty: not known yet, or of several.
	Name() string
	// Next waits for a sample until ctx ends. After io.EOF there are no more; after another
	// error it may be called again.
	Next(ctx context.Context) (record.HostSample, error)
}

// retryAfter is how long a source is left alone that has failed.
const retryAfter = 5 * time.Second

// framesPerS bounds how often the terminal is written to, and how long a key waits. Each is a
// wake-up of the process, also when nothing has changed: ten take a fifth of what top takes.
const framesPerS = 5

// Run shows samples of sources on a terminal until a key ends it, or ctx, and then restores
// the terminal, also after a panic. In nil: the process's terminal.
func Run(ctx context.Context, m Model, in io.Reader, out io.Writer, sources []Source) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithOutput(out), tea.WithFPS(framesPerS)}
	if in != nil {
		options = append(options, tea.WithInput(in))
	}
	p := tea.NewProgram(program{ctx: ctx, model: m, sources: sources}, options...)
	// Not tea.WithContext: that leaves a goroutine reading the terminal.
	defer context.AfterFunc(ctx, p.Quit)()
	_, err := p.Run()
	return err
}

// program is a Model as bubbletea has one.
type program struct {
	ctx           context.Context
	model         Model
	sources       []Source
	width, height int
}

type (
	sampled struct {
		source int
		record.HostSample
	}
	failed struct {
		source int
		err    error
	}
	retry struct{ source int }
)

// next has a sample read. A panic in it is bubbletea's to catch, as in all commands.
func (p program) next(source int) tea.Cmd {
	return func() tea.Msg {
		s, err := p.sources[source].Next(p.ctx)
		if err != nil {
			return failed{source, err}
		}
		return sampled{source, s}
	}
}

func (p program) Init() tea.Cmd {
	var all []tea.Cmd
	for i := range p.sources {
		all = append(all, p.next(i))
	}
	return tea.Batch(all...)
}

func (p program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+z" {
			return p, tea.Suspend
		}
		var quit bool
		if p.model, quit = p.model.Key(msg.String()); quit {
			return p, tea.Quit
		}
	case sampled:
		p.model = p.model.Add(msg.HostSample)
		return p, p.next(msg.source)
	case failed:
		if errors.Is(msg.err, io.EOF) {
			p.model.Ended = "end of the recording"
			return p, nil
		}
		name := p.sources[msg.source].Name()
		if name == "" {
			name = fmt.Sprintf("host %d", msg.source+1)
		}
		p.model = p.model.Lose(name, plain.Line(msg.err.Error()))
		return p, tea.Tick(retryAfter, func(time.Time) tea.Msg { return retry{msg.source} })
	case retry:
		return p, p.next(msg.source)
	}
	return p, nil
}

func (p program) View() tea.View {
	v := tea.NewView("")
	if p.width > 0 && p.height > 0 {
		v.SetContent(Screen(p.model, p.width, p.height))
	}
	v.AltScreen = true
	return v
}
