package io.penstock.gateway.instance;

import io.penstock.gateway.dialect.EngineAddress;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.databind.JsonNode;

/// The models of each engine, as its last probe named them. An engine that named none is taken to have every model.
/// Safe for use by several threads.
public final class ModelCatalog implements Instances.Listener {
  private final Map<EngineAddress, Map<String, JsonNode>> byEngine = new ConcurrentHashMap<>();

  /// Keeps the models of an engine.
  ///
  /// @param page its `/v1/models`
  public void learn(EngineAddress engine, JsonNode page) {
    Map<String, JsonNode> models = new LinkedHashMap<>();
    page.path("data").forEach(model -> models.put(model.path("id").asString(""), model));
    models.remove("");
    byEngine.put(engine, models);
  }

  @Override
  public void removed(Instance instance) {
    byEngine.remove(instance.address());
  }

  /// Whether an engine may have a model.
  public boolean mayHave(EngineAddress engine, String model) {
    Map<String, JsonNode> models = byEngine.get(engine);
    return models == null || models.isEmpty() || models.containsKey(model);
  }

  /// The models of several instances by name. Where two have one, the description is the first one's.
  public Map<String, JsonNode> of(Collection<Instance> instances) {
    Map<String, JsonNode> all = new LinkedHashMap<>();
    for (Instance instance : instances) {
      byEngine.getOrDefault(instance.address(), Map.of()).forEach(all::putIfAbsent);
    }
    return all;
  }
}
