package io.penstock.disagg.registry;

import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.registry.Registration.Side;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/// The distinct shapes of the registered instances, by model: each manifest is kept once. Not safe for use by several
/// threads.
final class Shapes {
  private final int mostLayers;
  private final Map<String, Map<Shape, Kept>> byModel = new HashMap<>();

  private record Shape(Side side, int version, Manifest manifest) {
    static Shape of(Registration registration) {
      return new Shape(registration.side(), registration.version(), registration.manifest());
    }
  }

  private static final class Kept {
    final Manifest manifest;
    int instances;

    Kept(Manifest manifest) {
      this.manifest = manifest;
    }
  }

  Shapes(int mostLayers) {
    this.mostLayers = mostLayers;
  }

  /// Requires that instances of both sides of a model can exchange blocks.
  void requireFits(Registration registration) {
    long layers = layers(registration.manifest());
    if (layers > mostLayers) {
      throw new RegistrationRefusedException("layers, planes and stages of a manifest", "<= " + mostLayers, layers);
    }
    byModel.getOrDefault(registration.manifest().model(), Map.of()).keySet().stream()
        .filter(there -> there.side() != registration.side()).forEach(there -> requireFits(registration, there));
  }

  private static void requireFits(Registration registration, Shape there) {
    if (there.version() != registration.version()) {
      throw new RegistrationRefusedException("version", there.version(), registration.version());
    }
    boolean isPrefill = registration.side() == Side.PREFILL;
    var _ = new Planner(isPrefill ? registration.manifest() : there.manifest(),
        isPrefill ? there.manifest() : registration.manifest());
  }

  private static long layers(Manifest manifest) {
    long layers = manifest.stageLayers().size();
    for (Group group : manifest.groups()) {
      layers += group.layers().size() + group.layout().planes().size();
    }
    return layers;
  }

  /// Enters a new instance.
  ///
  /// @return its registration, with the manifest of an equal instance: manifests may be large
  Registration enter(Registration first) {
    Kept kept = byModel.computeIfAbsent(first.manifest().model(), model -> new LinkedHashMap<>())
        .computeIfAbsent(Shape.of(first), shape -> new Kept(shape.manifest()));
    kept.instances++;
    return with(first, kept.manifest);
  }

  /// `registration` with an equal manifest that is kept anyway.
  static Registration with(Registration registration, Manifest kept) {
    return new Registration(registration.side(), registration.who(), registration.version(), kept,
        registration.endpoint(), registration.engine());
  }

  /// An instance is gone.
  void leave(Registration first) {
    byModel.computeIfPresent(first.manifest().model(), (model, shapes) -> {
      shapes.computeIfPresent(Shape.of(first), (shape, kept) -> --kept.instances == 0 ? null : kept);
      return shapes.isEmpty() ? null : shapes;
    });
  }
}
