package io.penstock.wire.report;

import static java.util.Objects.requireNonNull;

import io.penstock.meter.ClientMeters;
import io.penstock.wire.protocol.ErrorCode;
import java.util.Locale;

/// Shows the gets and puts of a `KvClient` by meters: `KvClientOptions.Builder.streams`.
public final class MeteredStreams implements StreamListener {
  private final ClientMeters meters;

  public MeteredStreams(ClientMeters meters) {
    this.meters = requireNonNull(meters, "meters");
  }

  @Override
  public void ended(Report stream) {
    ErrorCode failure = stream.failure();
    meters.ended(stream.transport(), stream.isOutgoing() ? "out" : "in", stream.bytes(), stream.nanos(),
        failure == null ? null : failure.name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }
}
