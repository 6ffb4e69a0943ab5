package io.penstock.recording;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds.ReadLease;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// What a recording says of an element of a named flow: numbers, keys and a text, as its [ElementType] says. Bytes of
/// payload are not read. An element of an unknown type is described by the name of its class alone: its text might hold
/// what must not leave the process.
final class ElementWords {
  /// Most characters of a text.
  private static final int MOST_TEXT = 200;

  private ElementWords() {}

  /// Completes `event` with what there is to say of `element`.
  static RecordedEvent of(RecordedEvent event, Object element) {
    return switch (element) {
      case LayerSlice slice -> numbered(event, ElementType.SLICE, slice.place().window(), slice.place().remaining(),
          slice.range().first(), slice.range().count()).with(slice.spans().stream().map(LayerSpan::key).toList());
      case Block block -> numbered(event, ElementType.BLOCK).with(block.key());
      case LeasedBlock leased -> numbered(event, ElementType.LEASED_BLOCK, leased.position())
          .with(leased.block().key());
      case Receipt receipt -> numbered(event, ElementType.RECEIPT, receipt.durability().ordinal(), receipt.sequence())
          .with(receipt.key()).with(receipt.tier());
      case BlockKey key -> numbered(event, ElementType.KEY).with(key);
      case Collection<?> all -> list(event, all);
      case LeasedWindow window -> numbered(event, ElementType.WINDOW, window.size());
      case Lease lease -> numbered(event, ElementType.LEASE, lease.hits().size(), lease.hits().count(),
          lease.found().count(), lease.admitted().count(), lease.awaited().count());
      case Reservation granted -> reservation(event, granted);
      case ReadLease lease -> numbered(event, ElementType.READ_LEASE, lease.id(), lease.life().toNanos(),
          lease.found().count(), lease.leased().count());
      case Presence presence -> numbered(event, ElementType.PRESENCE, presence.size(), presence.count());
      case Number number -> numbered(event, ElementType.NUMBER, number.longValue());
      case Boolean truth -> numbered(event, ElementType.NUMBER, truth ? 1 : 0);
      case Enum<?> constant -> numbered(event, ElementType.CONSTANT, constant.ordinal()).with(constant.name());
      case MemorySegment bytes -> numbered(event, ElementType.BYTES, bytes.byteSize());
      case ByteBuffer bytes -> numbered(event, ElementType.BYTES, bytes.remaining());
      case TierEvent told -> numbered(event, ElementType.TIER_EVENT, told.sequence()).with(name(told));
      default -> numbered(event, ElementType.OTHER).with(name(element));
    };
  }

  /// Completes `event` with words of the flow's own. If they cannot be made, the element is named by its class.
  static <T> RecordedEvent of(RecordedEvent event, T element, Function<? super T, String> words) {
    String text;
    try {
      text = words.apply(element);
    } catch (RuntimeException e) {
      text = name(element);
    }
    return numbered(event, ElementType.OTHER)
        .with(text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) + "…" : text);
  }

  private static RecordedEvent numbered(RecordedEvent event, ElementType type, long... numbers) {
    long[] all = new long[numbers.length + 1];
    all[0] = type.ordinal();
    System.arraycopy(numbers, 0, all, 1, numbers.length);
    return event.with(all);
  }

  private static RecordedEvent reservation(RecordedEvent event, Reservation granted) {
    List<BlockDraft> drafts = granted.drafts();
    return numbered(event, ElementType.RESERVATION, drafts.size(), granted.skipped().count(),
        granted.duplicates().count()).with(drafts.stream().map(BlockDraft::key).toList());
  }

  private static RecordedEvent list(RecordedEvent event, Collection<?> all) {
    List<RecordedEvent> each = all.stream().filter(Objects::nonNull).map(element -> of(event, element)).toList();
    long[] types = each.stream().mapToLong(one -> one.number(0)).distinct().toArray();
    List<BlockKey> keys = each.stream().flatMap(one -> one.keys().stream()).toList();
    RecordedEvent counted = numbered(event, ElementType.LIST, all.size(), types.length == 1 ? types[0] : -1);
    return isOfOneSpace(keys) ? counted.with(keys) : counted;
  }

  /// Whether an event may name `keys`.
  private static boolean isOfOneSpace(List<BlockKey> keys) {
    return keys.stream().map(BlockKey::space).distinct().count() <= 1;
  }

  private static String name(@Nullable Object element) {
    return element == null ? "null" : element.getClass().getSimpleName();
  }
}
