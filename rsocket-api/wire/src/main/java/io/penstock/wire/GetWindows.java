package io.penstock.wire;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.SliceOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The blocks that the server of one `get` stream has said may come, window after window: which of them began, where
/// the next slices land, and how many slices may be on their way for that.
///
/// The slices of a window count down to 0, the windows count up from 0; a block comes once, in one window, and those of
/// a window are whole with its last slice. What breaks this is a typed error. Every call is a step of the stream's
/// [Serial].
final class GetWindows {
  private final GetReceiver.Setting setting;
  private final List<BlockKey> keys;
  private final SlotsAhead slots;
  /// Positions whose blocks may come, and those of them that must.
  private final BitSet coming;
  private final BitSet promised;
  private final BitSet started = new BitSet();
  private final int expected;
  /// Drafts of the current window by position.
  private final Map<Integer, BlockDraft> window = new LinkedHashMap<>();
  private int current = -1;
  private int remaining;
  /// Granules of the first slice of the current window.
  private @Nullable GranuleRange firstRange;
  /// No further block of the current window can begin.
  private boolean settled;
  private int promisedLeft;

  GetWindows(GetReceiver.Setting setting, List<BlockKey> keys, Messages.Found found, SlotsAhead slots) {
    found.requireOf(keys.size());
    this.setting = setting;
    this.keys = keys;
    this.slots = slots;
    this.promised = found.found().presence().bits();
    this.promisedLeft = promised.cardinality();
    this.coming = found.coming();
    this.expected = coming.cardinality();
  }

  /// Keeps one window of slots ahead, as far as blocks may still come. While the current window is not over, slots of
  /// the next one are asked for again when it is, at the latest.
  void hold() {
    if (mayHoldNext()) {
      slots.hold(Math.min(setting.windowBlocks(), left()), window.isEmpty());
    }
  }

  /// What is held is for the current window as long as blocks of it may begin.
  private boolean mayHoldNext() {
    return window.isEmpty() || settled;
  }

  /// Blocks that may still begin.
  private int left() {
    return expected - started.cardinality();
  }

  /// Slices that may be on their way, given where they could land.
  long allowed() {
    long ofWindow = window.isEmpty() ? 0 : remaining;
    int held = slots.left();
    if (held >= left()) {
      return promisedLeft > 0 ? Long.MAX_VALUE : ofWindow + 1; // one more lets a server say that it is done
    }
    return ofWindow + (mayHoldNext() && held >= setting.windowBlocks() ? 1 : 0);
  }

  /// Lands one slice.
  GetReceiver.Landed land(ByteBuf data) {
    SliceHeader header =
        SliceHeader.decode(data, setting.space(), setting.arena().layout(), setting.maxSliceBytes(), keys.size());
    header.requireKeys(keys);
    follow(header);
    List<BlockDraft> drafts = new ArrayList<>(header.positions().length);
    for (int i = 0; i < header.positions().length; i++) {
      BlockDraft draft = draft(header.positions()[i]);
      Landing.land(data, header, i, draft);
      drafts.add(draft);
    }
    if (header.endsWindow()) {
      for (BlockDraft draft : window.values()) {
        Landing.requireComplete(draft, setting.startLayer());
      }
      window.clear();
    }
    return new GetReceiver.Landed(header, drafts);
  }

  private void follow(SliceHeader header) {
    boolean opens = window.isEmpty();
    int next = opens ? current + 1 : current;
    int number = header.place().window();
    if (number != next) {
      throw WireFormatException.slice("window", "" + next, number);
    }
    if (!opens && header.place().remaining() != remaining - 1) {
      throw WireFormatException.slice("remaining", "" + (remaining - 1), header.place().remaining());
    }
    int firstGranule = setting.startLayer() * setting.arena().layout().planes().size();
    if (header.range().first() < firstGranule) {
      throw WireFormatException.slice("first layer", ">= " + setting.startLayer(), header.range());
    }
    current = number;
    remaining = header.place().remaining();
    if (opens) {
      firstRange = header.range();
      settled = false;
    } else if (setting.order() == SliceOrder.LAYER_FIRST && !header.range().equals(firstRange)) {
      settled = true; // every block has begun before the next layers come
    }
  }

  private BlockDraft draft(int position) {
    BlockDraft known = window.get(position);
    if (known != null) {
      return known;
    }
    if (started.get(position) || !coming.get(position)) {
      throw WireFormatException.slice("position", "of a block that is leased and was not sent before", position);
    }
    BlockDraft draft = slots.draft(keys.get(position));
    if (draft == null) {
      throw WireFormatException.slice("blocks of a window", "<= " + setting.windowBlocks(), window.size() + 1);
    }
    started.set(position);
    promisedLeft -= promised.get(position) ? 1 : 0;
    window.put(position, draft);
    return draft;
  }

  /// What the server still owed when it said that it was done; null for nothing.
  @Nullable IncompleteBlockException missing() {
    if (!window.isEmpty()) {
      return incomplete(window.keySet().iterator().next());
    }
    BitSet owed = (BitSet) promised.clone();
    owed.andNot(started);
    return owed.isEmpty() ? null : incomplete(owed.nextSetBit(0));
  }

  private IncompleteBlockException incomplete(int position) {
    return new IncompleteBlockException(keys.get(position), 0, setting.arena().layout().granules());
  }
}
