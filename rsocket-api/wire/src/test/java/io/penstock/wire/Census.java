package io.penstock.wire;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Counts the objects of ours, of RSocket and of Reactor that can be reached from some roots, by class: what grows here
/// without bound is kept by something that forgot to let it go.
public final class Census {
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final ArrayDeque<Object> open = new ArrayDeque<>();
  private final Map<String, Integer> counts = new TreeMap<>();

  private Census() {}

  /// How many objects of each class there are; elements of collections count by the class of the collection, too.
  public static Map<String, Integer> of(Object... roots) {
    Census census = new Census();
    for (Object root : roots) {
      census.add(root);
    }
    while (!census.open.isEmpty()) {
      census.visit(census.open.remove());
    }
    return census.counts;
  }

  private void add(@Nullable Object object) {
    if (object != null && !(object instanceof Enum<?>) && !(object instanceof Class<?>) && seen.add(object)) {
      open.add(object);
    }
  }

  private void visit(Object object) {
    switch (object) {
      case Map<?, ?> map when isOfJdk(map) -> map.forEach((key, value) -> {
        add(key);
        add(value);
      });
      case Collection<?> collection when isOfJdk(collection) -> {
        counts.merge("elements of " + collection.getClass().getSimpleName(), collection.size(), Integer::sum);
        collection.forEach(this::add);
      }
      case Object[] array -> {
        for (Object element : array) {
          add(element);
        }
      }
      case AtomicReference<?> reference -> add(reference.get());
      case Optional<?> optional -> optional.ifPresent(this::add);
      default -> visitFields(object);
    }
  }

  private static boolean isOfJdk(Object object) {
    return object.getClass().getName().startsWith("java.");
  }

  private void visitFields(Object object) {
    String name = object.getClass().getName();
    if (!name.startsWith("io.penstock.") && !name.startsWith("io.rsocket.") && !name.startsWith("reactor.")) {
      return;
    }
    counts.merge(name.replaceAll("\\$\\$Lambda.*", " lambda"), 1, Integer::sum);
    for (Class<?> type = object.getClass(); type != null && !type.getName().startsWith("java."); type =
        type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
          add(value(field, object));
        }
      }
    }
  }

  private static @Nullable Object value(Field field, Object object) {
    try {
      field.setAccessible(true);
      return field.get(object);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}
