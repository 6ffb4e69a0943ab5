package io.penstock.wire.client.get;

import io.penstock.wire.slice.LandedSlice;
import reactor.core.CoreSubscriber;

/// Where the slices of a lease come from.
interface LandedStream {
  /// Layers before it do not come.
  int startLayer();

  /// Attaches the one reader; its demand counts slices.
  void read(CoreSubscriber<? super LandedSlice> reader);

  /// Ends the stream from outside: the reader, if any, hears that its lease ended.
  void end();
}
