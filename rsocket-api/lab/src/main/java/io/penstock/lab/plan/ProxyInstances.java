package io.penstock.lab.plan;

import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// A proxy's choice among instances of one role: the instance with the least load; of equals the one that was added
/// first. An instance that is to be removed is chosen only when no other is left. Not thread-safe.
public final class ProxyInstances {
  /// Weight of the kept KV blocks in the load of a prefill instance; its tokens have weight 1.
  private static final double KV_WEIGHT = 0.3;

  private final Map<String, Load> loads = new LinkedHashMap<>();
  private final Set<String> leaving = new TreeSet<>();

  /// @param tokens of requests that run there
  /// @param kv of requests whose blocks are kept there
  public record Load(double tokens, double kv) {
    public static final Load NONE = new Load(0, 0);

    double priority() {
      return tokens + kv * KV_WEIGHT;
    }
  }

  /// The load that a prompt is for a prefill instance.
  public static double prefillScore(long requestBytes) {
    return requestBytes / 4.0 * 0.0345 + 120.0745;
  }

  /// Adds an instance behind the others. If the instance is already there, it stays, and its removal is cancelled.
  public void add(String instance, Load load) {
    loads.putIfAbsent(instance, load);
    leaving.remove(instance);
  }

  /// The instance to use next.
  public Optional<String> next() {
    // min() takes the first of equals, and the map keeps the order of addition
    Comparator<Map.Entry<String, Load>> busy =
        Comparator.comparing((Map.Entry<String, Load> instance) -> leaving.contains(instance.getKey()));
    return loads.entrySet().stream()
        .min(busy.thenComparing(one -> leaving.contains(one.getKey()) ? 0.0 : one.getValue().priority()))
        .map(Map.Entry::getKey);
  }

  /// Adds to the load of an instance, or takes from it with negative numbers; one that is gone is passed over.
  public void charge(String instance, double tokens, double kv) {
    loads.computeIfPresent(instance,
        (name, load) -> new Load(load.tokens() + tokens, kv < 0 ? Math.max(0, load.kv() + kv) : load.kv() + kv));
  }

  /// Marks an instance that shall go when it has nothing to do.
  public void leave(String instance) {
    leaving.add(instance);
  }

  /// Removes an instance at once.
  public void remove(String instance) {
    loads.remove(instance);
    leaving.remove(instance);
  }

  /// Loads by instance, in the order of addition.
  public Map<String, Load> loads() {
    return Collections.unmodifiableMap(loads);
  }

  /// Names of instances that are to be removed.
  public Set<String> leaving() {
    return Collections.unmodifiableSet(leaving);
  }
}
