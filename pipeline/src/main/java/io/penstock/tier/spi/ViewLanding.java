package io.penstock.tier.spi;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockView;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.UnexpectedSliceException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Places of one view of the blocks of a request: for each key, the parts of drafts that its tokens are for. The drafts
/// may have another layout: other heads, layers and tokens a block, another axis order.
///
/// The drafts stay their owner's. Used by one thread at a time; drafts may be shared with other landings.
public final class ViewLanding {
  private final BlockLayout source;
  private final BlockView view;
  private final Map<Integer, List<Target>> targets;
  private final boolean again;
  private final @Nullable String request;
  private final Runnable check;

  /// @param firstToken of the source's block that is the part's first token
  private record Target(int firstToken, BlockDraft.Part part) {
    int end() {
      return firstToken + part.view().tokens();
    }

    int granule(BlockView view, int granule) {
      return part.view().granules().first() + granule - view.granules().first();
    }
  }

  /// Landed bytes.
  ///
  /// @param part of the view
  /// @param blocks number of blocks of the source
  /// @param bytes packed bytes of all of them
  public record Landed(BlockView part, int blocks, int bytes) {}

  /// @param source layout of the source's blocks
  /// @param view of whole layers that is wanted of each
  public ViewLanding(BlockLayout source, BlockView view) {
    this(source, view, new LinkedHashMap<>(), false, null, () -> {});
    view.requireInside(source);
    view.packed(source);
  }

  private ViewLanding(BlockLayout source, BlockView view, Map<Integer, List<Target>> targets, boolean again,
      @Nullable String request, Runnable check) {
    this.source = requireNonNull(source, "source");
    this.view = view;
    this.targets = targets;
    this.again = again;
    this.request = request;
    this.check = requireNonNull(check, "check");
  }

  /// These places for one attempt of several: bytes that landed in an earlier attempt are not written again.
  ///
  /// @param attempt counted from 1
  /// @param forRequest name of the request that these bytes are for: its source renews the lease as bytes move
  /// @param check runs before each write, and throws if no byte may land any more
  public ViewLanding attempt(int attempt, String forRequest, Runnable check) {
    return new ViewLanding(source, view, targets, attempt > 1, forRequest, check);
  }

  /// Name of the request that these bytes are for; empty for a read of no request.
  public Optional<String> request() {
    return Optional.ofNullable(request);
  }

  /// Wanted part of each block.
  public BlockView view() {
    return view;
  }

  /// Lands the tokens from `firstToken` on of the block at `position` in `part`: as many as that has.
  ///
  /// @param position of its key in the request
  /// @param firstToken counted in the source's block
  /// @throws IllegalArgumentException if `part` has other heads, granules or widths than the view, or tokens that the
  ///     view lacks
  public ViewLanding to(int position, int firstToken, BlockDraft.Part part) {
    BlockView into = part.view();
    require("heads of the part", view.heads(), into.heads());
    require("granules of the part", view.granules().count(), into.granules().count());
    for (int i = 0; i < view.granules().count(); i++) {
      require("bytes of a token", view.tokenBytes(source, view.granules().first() + i),
          into.tokenBytes(part.draft().layout(), into.granules().first() + i));
    }
    if (firstToken < view.firstToken() || firstToken + into.tokens() > view.firstToken() + view.tokens()) {
      throw new IllegalArgumentException(
          "tokens must be of " + view + " (was " + firstToken + " + " + into.tokens() + ")");
    }
    targets.computeIfAbsent(position, key -> new ArrayList<>(1)).add(new Target(firstToken, part));
    return this;
  }

  private static void require(String name, int wanted, int actual) {
    if (wanted != actual) {
      throw new IllegalArgumentException(name + " must be " + wanted + ", as in the view (was " + actual + ")");
    }
  }

  /// Compares packed bytes with their checksums, then copies them to their places.
  ///
  /// @param key at `position` of the request
  /// @param part of its block that `packed` has
  /// @param checksums one a granule of `part`
  /// @param packed of this process alone, and not written during the call
  /// @param boundary that the bytes cross, named in the error
  /// @throws BlockCorruptException if a granule differs; nothing of `part` lands then
  /// @throws UnexpectedSliceException if `part` is no part of the view, or came before
  public void land(int position, BlockKey key, BlockView part, int[] checksums, MemorySegment packed,
      String boundary) {
    if (!view.contains(part) || part.heads() != view.heads()) {
      throw new UnexpectedSliceException("view", "all heads of a part of " + view, part);
    }
    int[] actual = part.checksums(source, packed);
    for (int i = 0; i < actual.length; i++) {
      if (actual[i] != checksums[i]) {
        throw new BlockCorruptException(boundary, key, part.granules().first() + i, checksums[i], actual[i]);
      }
    }
    for (Target target : targets.getOrDefault(position, List.of())) {
      check.run();
      land(target, part, packed);
    }
  }

  private void land(Target target, BlockView part, MemorySegment packed) {
    int from = Math.max(target.firstToken(), part.firstToken());
    int to = Math.min(target.end(), part.firstToken() + part.tokens());
    if (from >= to) {
      return;
    }
    int shift = target.part().view().firstToken() - target.firstToken();
    long offset = 0;
    for (int granule = part.granules().first(); granule < part.granules().end(); granule++) {
      long tokenBytes = part.tokenBytes(source, granule);
      MemorySegment tokens =
          packed.asSlice(offset + (from - part.firstToken()) * tokenBytes, (to - from) * tokenBytes);
      if (again) {
        target.part().landMissing(target.granule(view, granule), from + shift, to - from, tokens);
      } else {
        target.part().land(target.granule(view, granule), from + shift, to - from, tokens);
      }
      offset += part.granuleBytes(source, granule);
    }
  }

  /// @param key at `position` of the request
  /// @throws IncompleteBlockException if bytes of its block did not come
  public void requireComplete(int position, BlockKey key) {
    for (Target target : targets.getOrDefault(position, List.of())) {
      if (!target.part().isComplete()) {
        int missing = target.part().firstMissing() - target.part().view().granules().first();
        throw new IncompleteBlockException(key, view.granules().first() + missing, view.granules().count() - missing);
      }
    }
  }
}
