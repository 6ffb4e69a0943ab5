package io.penstock.tier.slice;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.UnexpectedSliceException;
import io.penstock.check.Checks;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The drafts of one window, by position. The slices of the window land in them: each part once, in its draft, where it
/// is verified. The slices of a window count down to 0.
///
/// The drafts stay their owner's. Used by one thread at a time.
public final class DraftWindow {
  private static final int UNKNOWN = -1;
  private static final int LEAST_ROOM = 4;

  private final int number;
  /// Drafts in the order in which they were added; each at the index of its position.
  private final List<BlockDraft> drafts = new ArrayList<>();
  private int[] positions = new int[LEAST_ROOM];
  /// Index behind the draft that was found last: slices name drafts in one order.
  private int next;
  private final Map<Integer, BlockCorruptException> damaged = new TreeMap<>();
  /// Number of slices that follow the last slice; unknown before the first slice.
  private int remaining = UNKNOWN;

  /// @param number of the window in its stream
  public DraftWindow(int number) {
    this.number = Checks.notNegative("number", number);
  }

  public int number() {
    return number;
  }

  /// Adds the draft of the key at `position` of the request.
  public void add(int position, BlockDraft draft) {
    if (drafts.size() == positions.length) {
      positions = Arrays.copyOf(positions, 2 * positions.length);
    }
    positions[drafts.size()] = position;
    drafts.add(draft);
  }

  /// The draft at `position`; null if the window has none.
  public @Nullable BlockDraft draft(int position) {
    int index = indexOf(position);
    return index < 0 ? null : drafts.get(index);
  }

  /// Negative if there is no such draft.
  private int indexOf(int position) {
    int size = drafts.size();
    for (int looked = 0, i = next; looked < size; looked++, i++) {
      int index = i < size ? i : i - size;
      if (positions[index] == position) {
        next = index + 1;
        return index;
      }
    }
    return -1;
  }

  /// The drafts, in the order in which they were added.
  public List<BlockDraft> drafts() {
    return Collections.unmodifiableList(drafts);
  }

  /// Position of the `i`-th draft.
  public int position(int i) {
    return positions[Objects.checkIndex(i, drafts.size())];
  }

  /// Position of the draft of `key`; quick if keys are asked for in the order in which their drafts were added.
  ///
  /// @throws IllegalArgumentException if the window has no such draft
  public int position(BlockKey key) {
    int size = drafts.size();
    for (int looked = 0, i = next; looked < size; looked++, i++) {
      int index = i < size ? i : i - size;
      if (drafts.get(index).key().equals(key)) {
        next = index + 1;
        return positions[index];
      }
    }
    throw new IllegalArgumentException("key must be of a draft of window " + number + " (was " + key + ")");
  }

  /// Positions and drafts, in the order in which they were added.
  public Map<Integer, BlockDraft> byPosition() {
    Map<Integer, BlockDraft> byPosition = new LinkedHashMap<>();
    for (int i = 0; i < drafts.size(); i++) {
      byPosition.put(positions[i], drafts.get(i));
    }
    return byPosition;
  }

  /// True once the first slice arrived.
  public boolean hasBegun() {
    return remaining != UNKNOWN;
  }

  /// Number of slices that follow the last slice.
  public int remaining() {
    return Math.max(0, remaining);
  }

  /// True once the last slice arrived.
  public boolean isOver() {
    return remaining == 0;
  }

  /// Advances the window to the slice at `place`.
  ///
  /// @throws UnexpectedSliceException if the slice is of another window, or is not the next one
  public void follow(LayerSlice.Position place) {
    if (place.window() != number) {
      throw new UnexpectedSliceException("window", "" + number, place.window());
    }
    if (hasBegun() && place.remaining() != remaining - 1) {
      throw new UnexpectedSliceException("remaining", "" + (remaining - 1), place.remaining());
    }
    remaining = place.remaining();
  }

  /// Whether it has a draft at each of `positions`.
  public boolean hasDrafts(int[] positions) {
    for (int position : positions) {
      if (indexOf(position) < 0) {
        return false;
      }
    }
    return true;
  }

  /// A hold on the memory of the part of a slice that belongs to one block, for bytes that come bit by bit. It is
  /// closed before the part lands.
  ///
  /// @throws UnexpectedSliceException if the window has no such draft, or bytes of `range` came before
  public BlockDraft.Span writing(int position, GranuleRange range) {
    BlockDraft draft = wanted(position);
    try {
      return draft.writing(range);
    } catch (IllegalStateException e) {
      throw refused(draft, range, e);
    }
  }

  private BlockDraft wanted(int position) {
    BlockDraft draft = draft(position);
    if (draft == null) {
      throw new UnexpectedSliceException("position", "a wanted key of window " + number, position);
    }
    return draft;
  }

  /// Lands the part of a slice that belongs to one block: `writer` copies the bytes into the draft, which compares them
  /// with `checksums`.
  ///
  /// @param checksums one a granule of `range`
  /// @param boundary that the bytes cross, named in the error
  /// @throws BlockCorruptException if a granule differs from its checksum; nothing of `range` is verified then
  /// @throws UnexpectedSliceException if the window has no such draft, or bytes of `range` came before
  public void land(int position, GranuleRange range, int[] checksums, String boundary,
      Consumer<MemorySegment> writer) {
    land(position, range, writer, draft -> draft.verify(range, checksums, boundary));
  }

  /// Lands a part with another comparison.
  ///
  /// @param check compares the written bytes
  public void land(int position, GranuleRange range, Consumer<MemorySegment> writer, Consumer<BlockDraft> check) {
    BlockDraft draft = wanted(position);
    try {
      draft.write(range, writer);
    } catch (IllegalStateException e) {
      throw refused(draft, range, e);
    }
    check.accept(draft);
  }

  /// Lands a part; bytes that differ end their block alone: its draft leaves the window, and its other parts are
  /// ignored.
  public void landIntact(int position, GranuleRange range, Consumer<MemorySegment> writer,
      Consumer<BlockDraft> check) {
    if (damaged.containsKey(position)) {
      return;
    }
    try {
      land(position, range, writer, check);
    } catch (BlockCorruptException e) {
      remove(indexOf(position));
      damaged.put(position, e);
    }
  }

  private void remove(int index) {
    System.arraycopy(positions, index + 1, positions, index, drafts.size() - index - 1);
    drafts.remove(index);
    next = index;
  }

  /// The blocks that [#landIntact] ended, by position.
  public Map<Integer, BlockCorruptException> damaged() {
    return Collections.unmodifiableMap(damaged);
  }

  /// Lands all parts of `slice`, in one copy within off-heap memory. The slice stays the caller's.
  ///
  /// @throws IllegalArgumentException if its blocks have another layout than the drafts
  public void land(LayerSlice slice, String boundary) {
    if (!drafts.isEmpty()) {
      slice.requireLayout(drafts.getFirst().layout());
    }
    follow(slice.place());
    List<LayerSpan> spans = slice.spans();
    for (int i = 0; i < spans.size(); i++) {
      LayerSpan span = spans.get(i);
      land(slice.position(i), slice.range(), span.checksums(boundary), boundary, memory -> span.read(memory::copyFrom));
    }
  }

  /// @param startLayer the first expected layer
  /// @throws IncompleteBlockException if a granule of such a layer is missing
  public void requireComplete(int startLayer) {
    for (BlockDraft draft : drafts) {
      if (startLayer > 0 || !draft.isComplete()) {
        requireComplete(draft, startLayer);
      }
    }
  }

  private static RuntimeException refused(BlockDraft draft, GranuleRange range, IllegalStateException why) {
    return draft.isClosed()
        ? why
        : new UnexpectedSliceException("granules", "such as did not come before", range);
  }

  private static void requireComplete(BlockDraft draft, int startLayer) {
    BlockLayout layout = draft.layout();
    List<GranuleRange> missing =
        draft.unverified(GranuleRange.layers(layout, startLayer, layout.layers()));
    if (!missing.isEmpty()) {
      throw new IncompleteBlockException(draft.key(), missing.getFirst().first(),
          missing.stream().mapToInt(GranuleRange::count).sum());
    }
  }
}
