// Command alerts evaluates a rules file of Prometheus over given series, with Prometheus' own parser
// of rules files and query engine.
//
// It reads JSON from its standard input: the file as "rules", and "series" with "labels" and
// "values", one a minute from minute 0, null without a sample. It evaluates every alert once a
// minute, and writes each time that one starts to fire, as JSON: "minute", "alert" and "labels".
//
// promtool evaluates rules files too, but compiles the clients of every cloud. What it has in
// addition is the state of alerts in rules/alerting.go: an alert fires once its expression has had
// the same labels for the time of "for" in every evaluation.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

const minute = int64(time.Minute / time.Millisecond)

type given struct {
	Rules  string `json:"rules"`
	Series []struct {
		Labels map[string]string `json:"labels"`
		Values []*float64        `json:"values"`
	} `json:"series"`
}

type fired struct {
	Minute int               `json:"minute"`
	Alert  string            `json:"alert"`
	Labels map[string]string `json:"labels"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked given
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	language := parser.NewParser(parser.Options{})
	quiet := slog.New(slog.DiscardHandler)
	file, errs := rulefmt.Parse([]byte(asked.Rules), false, model.UTF8Validation, language, quiet)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	evaluator := evaluator{
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples: 1_000_000, Timeout: time.Minute, Parser: language,
		}),
		series: stored(asked),
	}
	found := []fired{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			times, err := evaluator.evaluate(rule, lastMinute(asked))
			if err != nil {
				return fmt.Errorf("%s: %w", rule.Alert, err)
			}
			found = append(found, times...)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

type evaluator struct {
	engine *promql.Engine
	series []storage.Series
}

// evaluate returns when an alert starts to fire, until the last minute.
func (e *evaluator) evaluate(rule rulefmt.Rule, last int) ([]fired, error) {
	found, active := []fired{}, map[string]int{}
	hold := int(time.Duration(rule.For) / time.Minute)
	for now := 0; now <= last; now++ {
		results, err := e.query(rule.Expr, now)
		if err != nil {
			return nil, err
		}
		still := map[string]int{}
		for _, sample := range results {
			key := sample.Metric.String()
			since, known := active[key]
			if !known {
				since = now
			}
			still[key] = since
			if now-since == hold {
				found = append(found, fired{now, rule.Alert, sample.Metric.Map()})
			}
		}
		active = still
	}
	return found, nil
}

func (e *evaluator) query(expression string, now int) (promql.Vector, error) {
	at := time.UnixMilli(int64(now) * minute)
	query, err := e.engine.NewInstantQuery(context.Background(), e, nil, expression, at)
	if err != nil {
		return nil, err
	}
	defer query.Close()
	return query.Exec(context.Background()).Vector()
}

// Querier implements storage.Queryable.
func (e *evaluator) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{
		SelectMockFunction: func(
			_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher,
		) storage.SeriesSet {
			selected := []storage.Series{}
			for _, each := range e.series {
				if matches(each.Labels(), matchers) {
					selected = append(selected, each)
				}
			}
			return &seriesSet{series: selected, at: -1}
		},
	}, nil
}

func matches(of labels.Labels, matchers []*labels.Matcher) bool {
	for _, each := range matchers {
		if !each.Matches(of.Get(each.Name)) {
			return false
		}
	}
	return true
}

// seriesSet is a storage.SeriesSet of given series.
type seriesSet struct {
	series []storage.Series
	at     int
}

func (s *seriesSet) Next() bool                      { s.at++; return s.at < len(s.series) }
func (s *seriesSet) At() storage.Series              { return s.series[s.at] }
func (*seriesSet) Err() error                        { return nil }
func (*seriesSet) Warnings() annotations.Annotations { return nil }

func stored(asked given) []storage.Series {
	series := []storage.Series{}
	for _, each := range asked.Series {
		points := []promql.FPoint{}
		for at, value := range each.Values {
			if value != nil {
				points = append(points, promql.FPoint{T: int64(at) * minute, F: *value})
			}
		}
		kept := promql.Series{Metric: labels.FromMap(each.Labels), Floats: points}
		series = append(series, promql.NewStorageSeries(kept))
	}
	return series
}

func lastMinute(asked given) int {
	last := 0
	for _, each := range asked.Series {
		last = max(last, len(each.Values)-1)
	}
	return last
}
