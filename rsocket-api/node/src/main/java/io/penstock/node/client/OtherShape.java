package io.penstock.node.client;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.ElementType;
import io.penstock.node.config.Sizes;
import io.penstock.wire.ErrorCode;
import io.penstock.wire.RemotePermanentException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Says which flag is to be changed when a node refuses this side because its blocks have another shape.
public final class OtherShape {
  /// What differs, the node's and ours, as the node says it.
  private static final Pattern DIFFERENCE = Pattern.compile(
      "space must be the server's \\(was (?<field>[\\w.]+): (?<theirs>\\[.*?]]|[^,]*), (?<ours>.*) \\(the client's second\\)\\)");
  private static final Pattern PLANE = Pattern.compile("type=(\\w+), heads=(\\d+), width=(\\d+)");

  /// A flag that is to be changed.
  private record Wrong(String flag, String theirs, String ours) {}

  private OtherShape() {}

  /// `refusal` in the words of the command line, if it is about the shape of blocks: then the command line makes no
  /// sense; else itself.
  ///
  /// @param flags that the command has
  public static RuntimeException told(HostPort node, CacheSpace ours, Set<String> flags,
      RemotePermanentException refusal) {
    if (refusal.code() != ErrorCode.SPACE_MISMATCH.code()) {
      return refusal;
    }
    return new IllegalArgumentException(sentence(node, ours.layout(), flags, String.valueOf(refusal.getMessage())),
        refusal);
  }

  /// @param said by the node, which may be of a newer version: of what this one does not understand it says what it was
  ///     told
  static String sentence(HostPort node, BlockLayout ours, Set<String> flags, String said) {
    Optional<Wrong> wrong;
    try {
      wrong = wrong(ours, said);
    } catch (IllegalArgumentException e) {
      wrong = Optional.empty();
    }
    return wrong.filter(one -> flags.contains(one.flag()))
        .map(
            one -> "%s must be %s, as at the node at %s (was %s)".formatted(one.flag(), one.theirs(), node, one.ours()))
        .orElseGet(() -> "blocks must have the shape of those of the node at %s, which keeps others (%s)"
            .formatted(node, said));
  }

  private static Optional<Wrong> wrong(BlockLayout ours, String said) {
    Matcher difference = DIFFERENCE.matcher(said);
    if (!difference.matches()) {
      return Optional.empty();
    }
    String theirs = difference.group("theirs");
    return Optional.ofNullable(switch (difference.group("field")) {
      case "model" -> new Wrong("--model", theirs, difference.group("ours"));
      case "layout.layers" -> new Wrong("--layers", theirs, difference.group("ours"));
      case "layout.tokens" -> new Wrong("--block-tokens", theirs, difference.group("ours"));
      case "layout.planes" -> wrongBytes(blockBytes(ours, theirs), ours.blockBytes());
      default -> null;
    });
  }

  /// Null if it is not the bytes that differ, or if nobody knows.
  private static @Nullable Wrong wrongBytes(long theirs, long ours) {
    return theirs == 0 || theirs == ours ? null : new Wrong("--block-bytes", Sizes.exact(theirs), Sizes.exact(ours));
  }

  /// Of a block with the layers and tokens of `ours`, and these planes; 0 if one of them is told in another form.
  ///
  /// @throws IllegalArgumentException if there is a type or a number among them that is unknown here
  private static long blockBytes(BlockLayout ours, String planes) {
    List<MatchResult> known = PLANE.matcher(planes).results().toList();
    return known.size() != planes.split("Plane\\[", -1).length - 1
        ? 0
        : known.stream()
            .mapToLong(plane -> Long.parseLong(plane.group(2)) * Long.parseLong(plane.group(3))
                * ElementType.valueOf(plane.group(1)).bytes())
            .sum() * ours.layers() * ours.tokens();
  }
}
