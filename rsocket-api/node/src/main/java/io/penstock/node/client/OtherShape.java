package io.penstock.node.client;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.ElementType;
import io.penstock.node.config.Sizes;
import io.penstock.wire.ErrorCode;
import io.penstock.wire.RemotePermanentException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Says which flag is to be changed when a node refuses this side because its blocks have another shape.
public final class OtherShape {
  /// What differs, the node's and ours, as the node says it.
  private static final Pattern DIFFERENCE = Pattern.compile("space must be the server's \\(was (?<field>[\\w.]+): (?<theirs>\\[.*?]]|[^,]*), (?<ours>.*) \\(the client's second\\)\\)");
  private static final Pattern PLANE = Pattern.compile("type=(\\w+), heads=(\\d+), width=(\\d+)");

  private OtherShape() {}

  /// `refusal` in the words of the command line, if it is about the shape of blocks: then the command line makes no sense; else itself.
  public static RuntimeException told(HostPort node, CacheSpace ours, RemotePermanentException refusal) {
    if (refusal.code() != ErrorCode.SPACE_MISMATCH.code()) {
      return refusal;
    }
    return new IllegalArgumentException(sentence(node, ours.layout(), String.valueOf(refusal.getMessage())), refusal);
  }

  /// @param said by the node, which may be of a newer version: of what this one does not understand it says what it was told
  static String sentence(HostPort node, BlockLayout ours, String said) {
    Optional<String> flag;
    try {
      flag = flag(node, ours, said);
    } catch (IllegalArgumentException e) {
      flag = Optional.empty();
    }
    return flag.orElseGet(() -> "blocks must have the shape of those of the node at %s, which keeps others (%s)".formatted(node, said));
  }

  private static Optional<String> flag(HostPort node, BlockLayout ours, String said) {
    Matcher difference = DIFFERENCE.matcher(said);
    String field = difference.matches() ? difference.group("field") : "";
    return Optional.ofNullable(switch (field) {
      case "model" -> flag("--model", node, difference.group("theirs"), difference.group("ours"));
      case "layout.layers" -> flag("--layers", node, difference.group("theirs"), difference.group("ours"));
      case "layout.tokens" -> flag("--block-tokens", node, difference.group("theirs"), difference.group("ours"));
      case "layout.planes" -> flag("--block-bytes", node, Sizes.exact(blockBytes(ours, difference.group("theirs"))), Sizes.exact(ours.blockBytes()));
      default -> null;
    });
  }

  private static String flag(String flag, HostPort node, String theirs, String ours) {
    return "%s must be %s, as at the node at %s (was %s)".formatted(flag, theirs, node, ours);
  }

  /// Of a block with the layers and tokens of `ours`, and these planes.
  ///
  /// @throws IllegalArgumentException if there is a type or a number among them that is unknown here
  private static long blockBytes(BlockLayout ours, String planes) {
    return PLANE.matcher(planes).results()
        .mapToLong(plane -> Long.parseLong(plane.group(2)) * Long.parseLong(plane.group(3)) * ElementType.valueOf(plane.group(1)).bytes()).sum() * ours.layers() * ours.tokens();
  }
}
