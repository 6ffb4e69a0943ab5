package io.penstock.wire;

import io.penstock.wire.report.StreamListener;

/// Two listeners as one: each event goes to the first one, then to the second one.
record BothStreams(StreamListener first, StreamListener second) implements StreamListener {
  @Override
  public void ended(Report stream) {
    first.ended(stream);
    second.ended(stream);
  }

  @Override
  public void requestRefused() {
    first.requestRefused();
    second.requestRefused();
  }

  @Override
  public void bytesDelayed(long nanos) {
    first.bytesDelayed(nanos);
    second.bytesDelayed(nanos);
  }
}
