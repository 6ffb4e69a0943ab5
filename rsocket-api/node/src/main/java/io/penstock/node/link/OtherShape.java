package io.penstock.node.link;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.flow.ValueStore;
import io.penstock.node.text.Sizes;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Names the flag to change when a node refuses this side because its blocks have another shape.
public final class OtherShape {
  /// A flag to change.
  private record Wrong(String flag, Object theirs, Object ours) {}

  private static final String VALUE_PART_BYTES = "--value-part-bytes";

  private OtherShape() {}

  /// `refusal` in the words of the command line, if it is about the shape of blocks: then the command line is wrong;
  /// else itself.
  ///
  /// @param node where it is
  /// @param flags that the command has
  public static RuntimeException told(Object node, CacheSpace ours, Set<String> flags,
      RemotePermanentException refusal) {
    return refusal.code() == ErrorCode.SPACE_MISMATCH.code()
        ? new IllegalArgumentException(sentence(node, ours, flags, refusal.field(), refusal.wanted(),
            refusal.actual(), String.valueOf(refusal.getMessage())), refusal)
        : refusal;
  }

  /// @param field that differs, with the node's value and ours; null if the node named none that is known here
  /// @param said by the node, repeated where no flag of the command would help
  static String sentence(Object node, CacheSpace ours, Set<String> flags, @Nullable String field,
      @Nullable Object theirs, @Nullable Object mine, String said) {
    if ("space".equals(field) && "absent".equals(mine)) {
      return "--model, --salt and the layout of a space must be given, for every space of the node at %s has a salt"
          .formatted(node);
    }
    if ("space".equals(field)) {
      return "blocks must be of a space that the node at %s has (%s)%s".formatted(node, said,
          ours.hasValues()
              ? "; %s was %s".formatted(VALUE_PART_BYTES, Sizes.exact(ours.layout().blockBytes()))
              : flags.contains("--name")
                  ? "; --model, %s and --name state a space of values and a value in it".formatted(VALUE_PART_BYTES)
                  : "");
    }
    return Optional
        .ofNullable(field == null || theirs == null || mine == null ? null : wrong(ours, field, theirs, mine))
        .filter(one -> flags.contains(one.flag()))
        .map(one -> "%s must be %s, as at the node at %s (was %s)"
            .formatted(one.flag(), one.theirs(), node, one.ours()))
        .orElseGet(() -> "blocks must have the shape of those of the node at %s, which keeps others (%s)"
            .formatted(node, said));
  }

  private static @Nullable Wrong wrong(CacheSpace ours, String field, Object theirs, Object mine) {
    return switch (field) {
      case "space.model" -> new Wrong("--model", theirs, mine);
      case "space.layers" -> new Wrong("--layers", theirs, mine);
      case "space.tokens" -> new Wrong("--block-tokens", theirs, mine);
      case "space.order" -> new Wrong("--order", lower(theirs), lower(mine));
      case "space.fingerprint" -> new Wrong("--fingerprint", orNone(theirs), orNone(mine));
      case "space.planes" -> theirs instanceof List<?> planes ? wrongPlane(ours, planes) : null;
      default -> null;
    };
  }

  private static Object orNone(Object fingerprint) {
    return "".equals(fingerprint) ? "none" : fingerprint;
  }

  /// The first dimension that differs; null if a layer has other planes.
  private static @Nullable Wrong wrongPlane(CacheSpace space, List<?> planes) {
    BlockLayout ours = space.layout();
    Optional<Plane> ofValues = planes.size() == 1 && planes.getFirst() instanceof Plane one
        && one.kind() == Plane.Kind.VALUE ? Optional.of(one) : Optional.empty();
    if (space.hasValues() || ofValues.isPresent()) {
      return new Wrong(VALUE_PART_BYTES, ofValues.map(one -> Sizes.exact(ValueStore.partBytes(one))).orElse("none"),
          space.hasValues() ? Sizes.exact(ours.blockBytes()) : "none");
    }
    for (int i = 0; i < Math.min(planes.size(), ours.planes().size()); i++) {
      Plane theirs = (Plane) planes.get(i);
      Plane mine = ours.planes().get(i);
      if (theirs.kind() != mine.kind()) {
        return null;
      } else if (theirs.type() != mine.type()) {
        return new Wrong("--dtype", lower(theirs.type()), lower(mine.type()));
      } else if (theirs.heads() != mine.heads()) {
        return new Wrong("--kv-heads", theirs.heads(), mine.heads());
      } else if (theirs.width() != mine.width()) {
        return wrongWidth(ours, theirs, mine);
      }
    }
    return null;
  }

  /// One head of keys is as wide as the size of a block needs, so the size is the flag to change.
  private static @Nullable Wrong wrongWidth(BlockLayout ours, Plane theirs, Plane mine) {
    return switch (mine.kind()) {
      case LATENT -> new Wrong("--latent-rank", theirs.width(), mine.width());
      case ROPE -> new Wrong("--rope-dim", theirs.width(), mine.width());
      case KEY -> mine.heads() > 1
          ? new Wrong("--head-dim", theirs.width(), mine.width())
          : new Wrong("--block-bytes", Sizes.exact((long) ours.blockBytes() / mine.width() * theirs.width()),
              Sizes.exact(ours.blockBytes()));
      default -> null;
    };
  }

  private static String lower(Object name) {
    return name.toString().toLowerCase(Locale.ROOT);
  }
}
