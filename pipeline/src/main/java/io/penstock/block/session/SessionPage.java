package io.penstock.block.session;

import io.penstock.block.BlockKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A part of the blocks of a session.
///
/// @param keys of visible blocks, in no particular order; a prefix that other sessions use, too, comes first
/// @param next key after which the next part begins; null at the end
public record SessionPage(List<BlockKey> keys, @Nullable BlockKey next) {
  public SessionPage {
    keys = List.copyOf(keys);
  }
}
