package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// All that makes equal content hashes mean different bytes. Two nodes exchange blocks only when their spaces are
/// equal.
///
/// The tenant salt lives here only: it changes [#id()], thereby every key, and is never sent in clear in a key.
///
/// Equal spaces have equal digests, and the other way round. The digest is computed once, by the constructor.
public final class CacheSpace {
  private final String model;
  private final BlockLayout layout;
  private final int group;
  private final String tenantSalt;
  private final SpaceId id;

  /// @param model digest or name of the model weights, for example the commit of a checkpoint
  /// @param layout shape of a block: layers, tokens, planes with heads, widths and element types, axis order
  /// @param group KV cache group, 0 unless a model has several (sliding window beside full attention)
  /// @param tenantSalt separates tenants; empty for none
  public CacheSpace(String model, BlockLayout layout, int group, String tenantSalt) {
    this.model = requireNonNull(model, "model");
    this.layout = requireNonNull(layout, "layout");
    this.group = Checks.notNegative("group", group);
    this.tenantSalt = requireNonNull(tenantSalt, "tenantSalt");
    this.id = digest(model, layout, group, tenantSalt);
  }

  /// A space without groups or salt.
  public static CacheSpace of(String model, BlockLayout layout) {
    return new CacheSpace(model, layout, 0, "");
  }

  public String model() {
    return model;
  }

  public BlockLayout layout() {
    return layout;
  }

  public int group() {
    return group;
  }

  public String tenantSalt() {
    return tenantSalt;
  }

  /// Digest over `penstock.space.v1`, model, layers, tokens, token order name, number of planes, for each plane kind
  /// name, type name, heads and width, then group and salt.
  public SpaceId id() {
    return id;
  }

  private static SpaceId digest(String model, BlockLayout layout, int group, String tenantSalt) {
    CanonicalDigest digest = new CanonicalDigest("penstock.space.v1")
        .text(model).int32(layout.layers()).int32(layout.tokens()).text(layout.order().name())
        .int32(layout.planes().size());
    for (Plane plane : layout.planes()) {
      digest.text(plane.kind().name()).text(plane.type().name()).int32(plane.heads()).int32(plane.width());
    }
    return SpaceId.read(digest.int32(group).text(tenantSalt).first16());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CacheSpace space && id.equals(space.id);
  }

  @Override
  public int hashCode() {
    return id.hashCode();
  }

  /// Without the salt, which is secret.
  @Override
  public String toString() {
    return "CacheSpace[%s, %s, group %d, %s]".formatted(model, layout, group, publicId());
  }

  /// The id in hex as a node shows it; empty with a salt. A peer that knows the id can ask for blocks, so the id of a
  /// tenant is as secret as the salt.
  public String publicId() {
    return tenantSalt.isEmpty() ? id().toString() : "";
  }

  /// The key of `hash` in this space.
  public BlockKey key(BlockHash hash) {
    return new BlockKey(id, hash);
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
}
