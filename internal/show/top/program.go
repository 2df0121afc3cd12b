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

// Source provides samples of one or several hosts.
type Source interface {
	// Name returns the name of its host. Empty: unknown, or there are several.
	Name() string
	// Next waits for a sample until ctx ends. After io.EOF there are no more. After another error
	// it may be called again.
	Next(ctx context.Context) (record.HostSample, error)
}

// retryAfter is the time after which a source that has failed is tried again.
const retryAfter = 5 * time.Second

// framesPerS is the maximum rate of writes to the terminal, and limits the delay of keys. Each
// frame wakes the process, even if nothing has changed: ten take a fifth of the CPU time of top.
const framesPerS = 5

// Run shows samples of sources on a terminal until a key or ctx ends it. It then restores the
// terminal, even after a panic. If in is nil, it uses the terminal of the process.
func Run(ctx context.Context, m Model, in io.Reader, out io.Writer, sources []Source) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := []tea.ProgramOption{tea.WithoutSignalHandler(), tea.WithOutput(out), tea.WithFPS(framesPerS)}
	if in != nil {
		options = append(options, tea.WithInput(in))
	}
	p := tea.NewProgram(program{ctx: ctx, model: m, sources: sources}, options...)
	// Not tea.WithContext, which leaves a goroutine that reads the terminal.
	defer context.AfterFunc(ctx, p.Quit)()
	_, err := p.Run()
	return err
}

// program adapts a Model to bubbletea.
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

// next returns a command that reads a sample. bubbletea recovers panics of commands.
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
