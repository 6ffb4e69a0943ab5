package io.penstock.wire.client.get;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.SliceShape;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.operator.Serial;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.slice.ArrivingSlice;
import io.penstock.wire.slice.LandedSlice;
import io.penstock.wire.slice.Landing;
import io.penstock.wire.slice.SliceHeader;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The blocks that the server of one `get` stream has said may come, window after window: which of them began, where
/// the next slices land, and how many slices may be on their way for that.
///
/// The slices of a window count down to 0, the windows count up from 0; a block comes once, in one window, and those of
/// a window are whole with its last slice. What breaks this is a typed error. Every call is a step of the stream's
/// `Serial`.
final class GetWindows {
  private final GetSetting setting;
  private final List<BlockKey> keys;
  private final SlotsAhead slots;
  private final Landing landing;
  /// Positions whose blocks may come, and those of them that must.
  private final BitSet coming;
  private final BitSet promised;
  private final BitSet started = new BitSet();
  private final int expected;
  /// The current window; null before the first slice.
  private @Nullable DraftWindow window;
  /// Granules of the first slice of the current window.
  private @Nullable GranuleRange firstRange;
  /// No further block of the current window can begin.
  private boolean allBegun;
  private int promisedLeft;
  /// The slice that comes now, if its bytes are read into its drafts: its window is not over before they are there.
  private @Nullable ArrivingSlice arriving;

  private GetWindows(GetSetting setting, List<BlockKey> keys, BitSet promised, BitSet coming, SlotsAhead slots,
      Landing landing) {
    this.setting = setting;
    this.keys = keys;
    this.slots = slots;
    this.landing = landing;
    this.promised = promised;
    this.promisedLeft = promised.cardinality();
    this.coming = coming;
    this.expected = coming.cardinality();
  }

  /// Windows of the blocks that `found` names.
  static GetWindows of(GetSetting setting, List<BlockKey> keys, Messages.Found found, SlotsAhead slots,
      Landing landing) {
    found.requireOf(keys.size());
    GetWindows windows =
        new GetWindows(setting, keys, found.found().presence().bits(), found.coming(), slots, landing);
    slots.trim(windows.expected);
    return windows;
  }

  /// Windows of blocks of which none is promised: any may come.
  static GetWindows ofAny(GetSetting setting, List<BlockKey> keys, SlotsAhead slots, Landing landing) {
    BitSet coming = new BitSet(keys.size());
    coming.set(0, keys.size());
    return new GetWindows(setting, keys, new BitSet(), coming, slots, landing);
  }

  /// Keeps one window of slots ahead, as far as blocks may still come. While the current window is not over, slots of
  /// the next one are requested again when it is, at the latest.
  void hold() {
    if (mayHoldNext()) {
      slots.hold(Math.min(setting.windowBlocks(), left()), isBetweenWindows());
    }
  }

  /// Held slots are for the current window as long as blocks of it may begin.
  private boolean mayHoldNext() {
    return isBetweenWindows() || allBegun;
  }

  private boolean isBetweenWindows() {
    return arriving == null && (window == null || window.isOver());
  }

  /// Blocks that may still begin.
  private int left() {
    return expected - started.cardinality();
  }

  /// Whether the node may have nothing to send before an awaited block arrives.
  boolean mayAwait() {
    return promisedLeft == 0 && isBetweenWindows() && left() > 0;
  }

  /// Slices that may be on their way, given where they could land.
  long allowed() {
    long ofWindow = window == null ? 0 : window.remaining();
    int held = slots.left();
    if (held >= left()) { // one more lets a server say that it is done
      return ofWindow + 1 + (promisedLeft > 0 ? setting.slices(left()) : 0);
    }
    return ofWindow + (mayHoldNext() && held >= setting.windowBlocks() ? 1 : 0);
  }

  /// Memory for the bytes of the slice that comes next.
  ///
  /// @param head first bytes of the slice, its whole header among them
  /// @param bytes of the slice
  ArrivingSlice arrives(ByteBuf head, int bytes) {
    SliceHeader header = header(head, bytes);
    try {
      ArrivingSlice slice = ArrivingSlice.of(header, begin(header));
      arriving = slice;
      return slice;
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
  }

  /// Lands one slice.
  LandedSlice land(ByteBuf data) {
    ArrivingSlice arrived = arriving;
    arriving = null;
    SliceHeader header = arrived == null ? header(data, data.readableBytes()) : arrived.header();
    try {
      DraftWindow current = arrived == null ? begin(header) : requireNonNull(window);
      if (arrived == null) {
        landing.land(data, header, setting.arena().layout(), current);
      } else {
        landing.land(arrived, setting.arena().layout(), current);
      }
      if (current.isOver()) {
        current.requireComplete(setting.startLayer());
        if (left() > 0) {
          landing.tell(current.number());
        }
      }
      return LandedSlice.now(header, current);
    } catch (UnexpectedSliceException e) {
      throw WireFormatException.slice(e);
    }
  }

  private SliceHeader header(ByteBuf head, int bytes) {
    SliceHeader header = SliceHeader.decode(head, bytes, setting.space(), setting.arena().layout(),
        setting.maxSliceBytes(), keys.size());
    header.requireKeys(keys);
    return header;
  }

  /// Whether no more slices can come, and the server keeps blocks until it knows that.
  boolean isLastOwed() {
    return landing.isOwed() && left() == 0 && isBetweenWindows();
  }

  private DraftWindow begin(SliceHeader header) {
    DraftWindow current = follow(header);
    begin(header.positions(), current);
    return current;
  }

  private DraftWindow follow(SliceHeader header) {
    boolean opens = isBetweenWindows();
    DraftWindow current = opens ? new DraftWindow(window == null ? 0 : window.number() + 1) : requireNonNull(window);
    current.follow(header.place());
    int firstGranule = setting.startLayer() * setting.arena().layout().planes().size();
    if (header.range().first() < firstGranule) {
      throw WireFormatException.slice("first layer", ">= " + setting.startLayer(), header.range());
    }
    window = current;
    if (opens) {
      firstRange = header.range();
      allBegun = false;
    } else if (setting.order() == SliceShape.Order.LAYER_FIRST && !header.range().equals(firstRange)) {
      allBegun = true; // every block has begun before the next layers come
    }
    return current;
  }

  /// Adds drafts for the blocks that begin.
  private void begin(int[] positions, DraftWindow current) {
    List<BlockKey> begun = new ArrayList<>();
    for (int position : positions) {
      if (!started.get(position) && coming.get(position)) {
        begun.add(keys.get(position));
      } else if (current.draft(position) == null) {
        throw WireFormatException.slice("position", "of a block that is leased and was not sent before", position);
      }
    }
    if (!begun.isEmpty()) {
      begin(positions, begun, current);
    }
  }

  private void begin(int[] positions, List<BlockKey> begun, DraftWindow current) {
    List<BlockDraft> drafts = slots.drafts(begun);
    if (drafts == null) {
      throw WireFormatException.slice("blocks of a window", "<= " + setting.windowBlocks(),
          current.drafts().size() + begun.size());
    }
    Iterator<BlockDraft> next = drafts.iterator();
    for (int position : positions) {
      if (!started.get(position)) {
        started.set(position);
        promisedLeft -= promised.get(position) ? 1 : 0;
        current.add(position, next.next());
      }
    }
  }

  /// Positions whose blocks have begun.
  BitSet started() {
    return started;
  }

  /// Blocks that the server still owed when it reported that it was done; null for none.
  @Nullable IncompleteBlockException missing() {
    if (window != null && !isBetweenWindows()) {
      return incomplete(window.position(0));
    }
    BitSet owed = (BitSet) promised.clone();
    owed.andNot(started);
    return owed.isEmpty() ? null : incomplete(owed.nextSetBit(0));
  }

  private IncompleteBlockException incomplete(int position) {
    return new IncompleteBlockException(keys.get(position), 0, setting.arena().layout().granules());
  }
}
