package io.penstock.wire.client.get;

import io.penstock.wire.slice.LandedSlice;
import reactor.core.CoreSubscriber;

/// Source of the slices of a lease.
interface LandedStream {
  /// First layer; layers before it do not come.
  int startLayer();

  /// Attaches the one reader; its demand counts slices.
  void read(CoreSubscriber<? super LandedSlice> reader);

  /// Ends the stream from outside: its reader, if any, gets the end of its lease.
  void end();
}
