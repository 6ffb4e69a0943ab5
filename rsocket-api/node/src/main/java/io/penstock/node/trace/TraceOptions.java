package io.penstock.node.trace;

import io.penstock.check.Checks;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// How a trace is read.
///
/// @param skipBad number of lines that may break a rule of the form; they are skipped and counted
/// @param turns what the later lines of a session list; null where the ids tell
/// @param notes takes a sentence for a person about skipped lines, when the trace has ended
record TraceOptions(int skipBad, @Nullable TurnForm turns, Consumer<String> notes) {
  TraceOptions {
    Checks.notNegative("--skip-bad", skipBad);
  }

  /// No line may break the form.
  static TraceOptions defaults() {
    return new TraceOptions(0, null, note -> {});
  }

  TraceOptions withSkipBad(int newSkipBad, Consumer<String> newNotes) {
    return new TraceOptions(newSkipBad, turns, newNotes);
  }

  TraceOptions withTurns(@Nullable TurnForm newTurns) {
    return new TraceOptions(skipBad, newTurns, notes);
  }

  /// The blocks that the later lines of a session list.
  enum TurnForm {
    /// All blocks of the prompt.
    WHOLE,
    /// Only the blocks that are new since the line before, as AIPerf's agent traces do.
    NEW
  }
}
