package io.penstock.node.serve;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.meter.StreamMeters;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.report.StreamListener;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Shows the streams of a node by meters, and logs one line about each slow stream with the reasons of its waits.
final class StreamReports implements StreamListener {
  private static final Logger LOG = LoggerFactory.getLogger(StreamReports.class);

  private final StreamMeters meters;
  private final long slowNanos;

  /// @param slow shorter streams are not in the log
  StreamReports(MeterRegistry registry, Duration slow) {
    meters = new StreamMeters(registry);
    slowNanos = slow.toNanos();
  }

  @Override
  public void ended(Report stream) {
    ErrorCode failure = stream.failure();
    meters.ended(stream.route(), stream.carrier().label(), stream.bytes(), stream.nanos(),
        stream.byCulprit(),
        failure == null ? null : failure.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    if (stream.nanos() >= slowNanos && LOG.isWarnEnabled()) {
      LOG.warn(line(stream));
    }
  }

  @Override
  public void requestRefused() {
    meters.requestRefused();
  }

  @Override
  public void bytesDelayed(long nanos) {
    meters.bytesDelayed(nanos);
  }

  static String line(Report stream) {
    return "slow %s of %s: %d ms for %d bytes, %s; waited %s%s%s"
        .formatted(stream.route(), stream.peer(), millis(stream.nanos()), stream.bytes(), stream.carrier().label(),
            stream.byCulprit().entrySet().stream().map(wait -> millis(wait.getValue()) + " ms for " + wait.getKey())
                .collect(Collectors.joining(", ")),
            stream.failure() == null ? "" : "; failed: " + stream.failure(),
            stream.trace() == null ? "" : "; trace " + stream.trace().traceparent());
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
