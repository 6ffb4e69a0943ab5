package io.penstock.recording;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.tier.Receipt;
import java.util.List;

/// What a recording says of an element of a named flow, beside its place: numbers, keys and a text. Bytes of payload are
/// not read.
final class ElementWords {
  /// Most characters of a text.
  private static final int MOST_TEXT = 200;

  private ElementWords() {}

  /// Completes `event` with the words of `element`.
  ///
  /// - slice: window, slices that follow in it, first granule, granules; keys of its blocks
  /// - block, receipt, key: the key; a receipt's sequence
  /// - list: the number of its elements; their keys, if they have some
  /// - any other: its text
  static RecordedEvent of(RecordedEvent event, Object element) {
    return switch (element) {
      case LayerSlice slice -> event.with(slice.spans().stream().map(LayerSpan::key).toList())
          .with(slice.place().window(), slice.place().remaining(), slice.range().first(), slice.range().count());
      case Block block -> event.with(block.key());
      case Receipt receipt -> event.with(receipt.key()).with(receipt.sequence());
      case BlockKey key -> event.with(key);
      case List<?> list -> all(event, list);
      default -> text(event, element.toString());
    };
  }

  private static RecordedEvent all(RecordedEvent event, List<?> list) {
    List<BlockKey> keys = list.stream().filter(BlockKey.class::isInstance).map(BlockKey.class::cast).toList();
    RecordedEvent counted = event.with(list.size());
    return keys.size() == list.size() ? counted.with(keys) : counted;
  }

  private static RecordedEvent text(RecordedEvent event, String text) {
    return event.with(text.length() > MOST_TEXT ? text.substring(0, MOST_TEXT) + "…" : text);
  }
}
