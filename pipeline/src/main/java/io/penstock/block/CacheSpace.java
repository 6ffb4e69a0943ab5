package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// All that makes equal content hashes mean different bytes. Two nodes exchange blocks only when their spaces are
/// equal.
///
/// The tenant salt lives here only: it changes [#id()], thereby every key, and is never sent in clear in a key.
///
/// A value: spaces with equal parts are equal.
public final class CacheSpace {
  private final String model;
  private final BlockLayout layout;
  private final int group;
  private final String tenantSalt;
  /// Computed when it is first asked for; two threads may do so, with equal results.
  private @Nullable SpaceId id;

  /// @param model digest or name of the model weights, for example the commit of a checkpoint
  /// @param layout shape of a block: layers, tokens, planes with heads, widths and element types, axis order
  /// @param group KV cache group, 0 unless a model has several (sliding window beside full attention)
  /// @param tenantSalt separates tenants; empty for none
  public CacheSpace(String model, BlockLayout layout, int group, String tenantSalt) {
    this.model = requireNonNull(model, "model");
    this.layout = requireNonNull(layout, "layout");
    this.group = Checks.notNegative("group", group);
    this.tenantSalt = requireNonNull(tenantSalt, "tenantSalt");
  }

  /// Digest or name of the model weights.
  public String model() {
    return model;
  }

  /// Shape of a block.
  public BlockLayout layout() {
    return layout;
  }

  /// KV cache group.
  public int group() {
    return group;
  }

  /// Separates tenants; empty for none.
  public String tenantSalt() {
    return tenantSalt;
  }

  /// A space without groups or salt.
  public static CacheSpace of(String model, BlockLayout layout) {
    return new CacheSpace(model, layout, 0, "");
  }

  /// Digest over `penstock.space.v1`, model, layers, tokens, token order name, number of planes, for each plane kind
  /// name, type name, heads and width, then group and salt.
  public SpaceId id() {
    SpaceId known = id;
    if (known == null) {
      known = digest();
      id = known;
    }
    return known;
  }

  private SpaceId digest() {
    CanonicalDigest digest = new CanonicalDigest("penstock.space.v1")
        .text(model).int32(layout.layers()).int32(layout.tokens()).text(layout.order().name())
        .int32(layout.planes().size());
    for (Plane plane : layout.planes()) {
      digest.text(plane.kind().name()).text(plane.type().name()).int32(plane.heads()).int32(plane.width());
    }
    return SpaceId.read(digest.int32(group).text(tenantSalt).first16());
  }

  /// The key of `hash` in this space.
  public BlockKey key(BlockHash hash) {
    return new BlockKey(id(), hash);
  }

  /// A field in which two spaces differ, and its values. The values of the salt are left out.
  ///
  /// @param field `model`, `layout.layers`, `layout.tokens`, `layout.order`, `layout.planes`, `group` or `tenantSalt`
  /// @param here a text, a number, or a list of [Plane]
  /// @param there of the same type
  public record Difference(String field, Object here, Object there) {
    /// For tenants that differ: the salts are secret.
    public static final Difference SALT = new Difference("tenantSalt", "the same", "another");

    public Difference {
      requireNonNull(field, "field");
      requireNonNull(here, "here");
      requireNonNull(there, "there");
    }

    /// *field: this value, other value*.
    @Override
    public String toString() {
      return field + ": " + here + ", " + there;
    }
  }

  /// The first field in which `other` differs.
  public Optional<Difference> difference(CacheSpace other) {
    if (!model.equals(other.model)) {
      return differs("model", model, other.model);
    } else if (layout.layers() != other.layout.layers()) {
      return differs("layout.layers", layout.layers(), other.layout.layers());
    } else if (layout.tokens() != other.layout.tokens()) {
      return differs("layout.tokens", layout.tokens(), other.layout.tokens());
    } else if (layout.order() != other.layout.order()) {
      return differs("layout.order", layout.order().name(), other.layout.order().name());
    } else if (!layout.planes().equals(other.layout.planes())) {
      return differs("layout.planes", layout.planes(), other.layout.planes());
    } else if (group != other.group) {
      return differs("group", group, other.group);
    }
    return tenantSalt.equals(other.tenantSalt) ? Optional.empty() : Optional.of(Difference.SALT);
  }

  private static Optional<Difference> differs(String name, Object here, Object there) {
    return Optional.of(new Difference(name, here, there));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CacheSpace space && model.equals(space.model) && layout.equals(space.layout)
        && group == space.group && tenantSalt.equals(space.tenantSalt);
  }

  @Override
  public int hashCode() {
    return Objects.hash(model, layout, group, tenantSalt);
  }

  @Override
  public String toString() {
    return "CacheSpace[model=" + model + ", layout=" + layout + ", group=" + group + ", tenantSalt=" + tenantSalt + "]";
  }
}
