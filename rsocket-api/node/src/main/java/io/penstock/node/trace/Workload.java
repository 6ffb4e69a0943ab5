package io.penstock.node.trace;

import java.util.List;
import java.util.Locale;

/// Kinds of requests that a trace can be made of, each unlike the others in what comes back, and when.
public enum Workload {
  /// People who talk to a model: a few turns each, with pauses to think, after one of a few system prompts.
  CONVERSATION {
    @Override
    public TraceSource open(GeneratorOptions options) {
      return new TraceGenerator(options);
    }
  },
  /// Agents in a loop: a long prompt with tools, then dozens of short steps, each a few seconds after the last.
  AGENTS {
    @Override
    public TraceSource open(GeneratorOptions options) {
      return new TraceGenerator(options, ConversationShape.AGENTS);
    }
  },
  /// Questions about popular documents, between batch jobs that read thousands of blocks once or in turn.
  SCANS {
    @Override
    public TraceSource open(GeneratorOptions options) {
      return new ScanGenerator(options);
    }
  },
  /// News: questions about the latest articles. What was popular is never asked for again.
  DRIFT {
    @Override
    public TraceSource open(GeneratorOptions options) {
      return new DriftGenerator(options);
    }
  },
  /// Conversations, agents, scans and drifting popularity at once, on one node.
  MIXTURE {
    @Override
    public TraceSource open(GeneratorOptions options) {
      return MixedTrace.of(options, List.of(CONVERSATION, AGENTS, SCANS, DRIFT));
    }
  },
  /// Day and night: a phase of scans, a phase of drifting popularity, and so on.
  PHASES {
    @Override
    public TraceSource open(GeneratorOptions options) {
      return PhasedTrace.of(options, List.of(SCANS, DRIFT));
    }
  };

  /// A trace of this kind. Equal options make equal traces, byte for byte, on every machine.
  public abstract TraceSource open(GeneratorOptions options);

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
