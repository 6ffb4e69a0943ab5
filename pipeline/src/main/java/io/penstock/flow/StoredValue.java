package io.penstock.flow;

import io.penstock.block.BlockKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A value that was stored or found, by its blocks. Equal for one writing of it.
public final class StoredValue {
  private final ValueHead head;
  private final List<BlockKey> marks;

  StoredValue(ValueHead head) {
    this(head, head.parts() == 0 ? List.of(head.key()) : List.of(head.key(), head.partKey(0)));
  }

  StoredValue(ValueHead head, List<BlockKey> marks) {
    this.head = head;
    this.marks = marks;
  }

  ValueHead head() {
    return head;
  }

  public String name() {
    return head.name();
  }

  /// Length in bytes.
  public long length() {
    return head.length();
  }

  /// Number of its blocks: its parts and its head.
  public long blocks() {
    return head.parts() + 1L;
  }

  /// What is known of it by any reader.
  public ValueStore.Info info() {
    return new ValueStore.Info(head.length(), head.version());
  }

  /// The keys of its parts, without the head.
  public List<BlockKey> partKeys() {
    return head.parts() == 0 ? List.of() : head.partKeys();
  }

  /// Its head and, if it has parts, the first one, which is evicted before the others and the head wherever the least
  /// recently used block goes first: while a tier has both, the value is whole.
  public List<BlockKey> marks() {
    return marks;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof StoredValue stored && head.equals(stored.head);
  }

  @Override
  public int hashCode() {
    return head.version().hashCode();
  }

  @Override
  public String toString() {
    return "value " + head.name() + " of " + head.length() + " bytes";
  }
}
