package io.penstock.wire.protocol;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The fields of a message: the components of its record, in their order and with their names, and nothing else.
///
/// @param positions of the fields, by name
record MessageForm(List<Field> fields, Map<String, Integer> positions, Constructor<?> constructor) {
  private static final ClassValue<MessageForm> FORMS = new ClassValue<>() {
    @Override
    protected MessageForm computeValue(Class<?> type) {
      return made(type);
    }
  };

  /// One field of a message.
  ///
  /// @param omitsNull whether the field is left out if it is null
  record Field(String name, Type type, Method accessor, boolean omitsNull) {}

  /// @param type a record of this package
  static MessageForm of(Class<?> type) {
    return FORMS.get(type);
  }

  private static MessageForm made(Class<?> type) {
    RecordComponent[] components = type.getRecordComponents();
    Map<String, Integer> positions = new HashMap<>();
    for (RecordComponent component : components) {
      positions.put(component.getName(), positions.size());
    }
    try {
      Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
      boolean all = type.isAnnotationPresent(OmitsNulls.class);
      return new MessageForm(Arrays.stream(components)
          .map(component -> new Field(component.getName(), component.getGenericType(), component.getAccessor(),
              all || component.isAnnotationPresent(OmitsNulls.class)))
          .toList(), Map.copyOf(positions), type.getDeclaredConstructor(types));
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(type + " must be a record", e);
    }
  }

  /// Makes a message, whose constructor checks the fields.
  ///
  /// @throws WireFormatException that the constructor throws
  Object message(@Nullable Object[] values) {
    try {
      return constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      throw unchecked(e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a message of ours can be made", e);
    }
  }

  /// Value of `field` in `message`.
  static @Nullable Object value(Field field, Object message) {
    try {
      return field.accessor().invoke(message);
    } catch (InvocationTargetException e) {
      throw unchecked(e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a message of ours can be read", e);
    }
  }

  private static RuntimeException unchecked(@Nullable Throwable thrown) {
    return switch (thrown) {
      case RuntimeException plain -> plain;
      case Error error -> throw error;
      case null, default -> new IllegalStateException(thrown);
    };
  }
}
