package io.penstock.node.trace;

import io.penstock.node.setting.SettingType;
import java.util.List;

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

  /// All names, for a help text.
  public static final String NAMES = "conversation, agents, scans, drift, mixture or phases";

  private static final SettingType<Workload> TYPE = SettingType.oneOf(Workload.class);

  /// A trace of this kind. Equal options make equal traces, byte for byte, on every machine.
  public abstract TraceSource open(GeneratorOptions options);

  /// The workload that `name` names; case does not count.
  ///
  /// @param flag that has the name, for the complaint
  public static Workload parse(String flag, String name) {
    try {
      return TYPE.parse().apply(name);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("%s must be %s (was %s)".formatted(flag, TYPE.rule(), name), e);
    }
  }

  /// The name on a command line.
  public String print() {
    return TYPE.print().apply(this);
  }
}
