package io.penstock.node.replay;

import io.penstock.node.cli.Console;
import io.penstock.node.play.RecordingPlay;
import io.penstock.node.text.Plural;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceReading;
import io.penstock.node.trace.TraceSource;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The options of a replay that say which requests there are.
public final class TraceFlags {
  @Parameters(index = "0", arity = "0..1", paramLabel = "TRACE",
      description = TraceReading.FORMS + "; or the folder of a recording, which `replay` plays. Without one, a trace is"
          + " generated from the seed.")
  private @Nullable Path trace;

  @Mixin
  private final TraceReading reading = new TraceReading();

  @Option(names = "--limit", paramLabel = "N", description = "Maximum number of requests to replay.")
  private @Nullable Long limit;

  @Option(names = "--seed", paramLabel = "S", description = "Seed of the generated trace; not with TRACE (default: 1).")
  private @Nullable Long seed;

  /// Refuses options that would otherwise be ignored without notice.
  public void requireTogether() {
    if (trace != null) {
      TierFlags.requireLeftOut("--seed", seed, "with TRACE, for only a generated trace has one");
    }
    if (trace == null) {
      reading.requireNone("without TRACE, for a generated trace keeps the form");
    }
    if (limit != null && limit <= 0) {
      throw new IllegalArgumentException("--limit must be > 0 (was " + limit + ")");
    }
    if (trace == null && limit != null && limit > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "--limit must be <= " + Integer.MAX_VALUE + " without TRACE (was " + limit + ")");
    }
  }

  /// The place of a recording or of several, which is told by its content; null if the requests are those of a trace.
  @Nullable Path recording() {
    return trace != null && !RecordingPlay.recordings(trace).isEmpty() ? trace : null;
  }

  /// Opens the trace, and says on `console` which of its lines were skipped when it is closed.
  public TraceSource open(Console console) {
    return trace == null ? new TraceGenerator(generated()) : reading.open(trace, console);
  }

  /// Number of requests, or -1 if it is not known.
  long requests() {
    return trace == null ? generated().requests() : limit == null ? -1 : limit;
  }

  /// Maximum number of requests.
  public long limit() {
    return limit == null ? Long.MAX_VALUE : limit;
  }

  String name() {
    return trace == null
        ? "generated, %s of seed %d".formatted(Plural.of(generated().requests(), "request"), generated().seed())
        : TraceReading.name(trace);
  }

  private GeneratorOptions generated() {
    GeneratorOptions options = seed == null ? GeneratorOptions.defaults() : GeneratorOptions.defaults().withSeed(seed);
    return limit == null ? options : options.withRequests(limit.intValue());
  }
}
