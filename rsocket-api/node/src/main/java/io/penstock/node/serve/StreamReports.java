package io.penstock.node.serve;

import io.penstock.wire.report.StreamListener;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reports the streams of a node to its meters, and logs one line about each slow stream with the reasons of its waits.
final class StreamReports implements StreamListener {
  private static final Logger LOG = LoggerFactory.getLogger(StreamReports.class);

  private final StreamListener meters;
  private final long slowNanos;

  /// @param slow shorter streams are not in the log
  StreamReports(StreamListener meters, Duration slow) {
    this.meters = meters;
    slowNanos = slow.toNanos();
  }

  @Override
  public void ended(Report stream) {
    meters.ended(stream);
    if (stream.nanos() >= slowNanos && LOG.isWarnEnabled()) {
      LOG.warn("slow {} of {}: {} ms for {} bytes, {}; waited {}{}{}", stream.route(), stream.peer(),
          millis(stream.nanos()), stream.bytes(), stream.carrier().label(), waits(stream),
          stream.failure() == null ? "" : "; failed: " + stream.failure(),
          stream.trace() == null ? "" : "; trace " + stream.trace().traceparent());
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

  private static String waits(Report stream) {
    return stream.byCulprit().entrySet().stream().map(wait -> millis(wait.getValue()) + " ms for " + wait.getKey())
        .collect(Collectors.joining(", "));
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
