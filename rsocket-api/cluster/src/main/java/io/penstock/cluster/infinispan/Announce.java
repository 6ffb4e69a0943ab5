package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.Holders;
import java.util.function.Function;
import org.infinispan.functional.EntryView.ReadWriteEntryView;
import org.jspecify.annotations.Nullable;

/// Adds a holder to an entry, where the entry is kept.
///
/// @param former rounds of the same member that this one takes the place of
record Announce(long round, int level, long[] former)
    implements
      Function<ReadWriteEntryView<byte[], byte[]>, @Nullable Void> {
  static final String TYPE = "penstock.Announce";

  @Override
  public @Nullable Void apply(ReadWriteEntryView<byte[], byte[]> entry) {
    entry.set(Holders.with(entry.find().orElse(Holders.NONE), round, level, former));
    return null;
  }
}
