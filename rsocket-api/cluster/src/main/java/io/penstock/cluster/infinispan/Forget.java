package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.Holders;
import java.util.Optional;
import java.util.function.Function;
import org.infinispan.functional.EntryView.ReadWriteEntryView;
import org.jspecify.annotations.Nullable;

/// Removes the holders of these rounds from an entry, where the entry is kept; an entry without holders goes.
record Forget(long[] rounds) implements Function<ReadWriteEntryView<byte[], byte[]>, @Nullable Void> {
  static final String TYPE = "penstock.Forget";

  @Override
  public @Nullable Void apply(ReadWriteEntryView<byte[], byte[]> entry) {
    Optional<byte[]> before = entry.find();
    if (before.isPresent()) {
      byte[] left = Holders.without(before.get(), round -> Holders.contains(rounds, round));
      if (left.length == 0) {
        entry.remove();
      } else if (left.length < before.get().length) {
        entry.set(left);
      }
    }
    return null;
  }
}
