package io.penstock.examples.disaggregated.tensors;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Reads the JSON header of a safetensors file, whose author may be hostile: a [ModelFileException] names the tensor
/// and the rule that is broken.
final class SafetensorsHeader {
  static final JsonMapper STRICT = JsonMapper.builder()
      .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
      .build();
  private static final String METADATA = "__metadata__";
  private static final int MOST_AXES = 8;

  private final Path file;
  private final long dataBytes;

  /// @param dataBytes length of the file behind the header
  SafetensorsHeader(Path file, long dataBytes) {
    this.file = file;
    this.dataBytes = dataBytes;
  }

  /// The tensors by name.
  Map<String, StoredTensor> parse(byte[] json) throws ModelFileException {
    Map<String, StoredTensor> tensors = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : object(json).properties()) {
      if (!entry.getKey().equals(METADATA)) {
        tensors.put(entry.getKey(), tensor(entry.getKey(), entry.getValue()));
      }
    }
    requireCovered(tensors);
    return tensors;
  }

  private JsonNode object(byte[] json) throws ModelFileException {
    if (json.length == 0 || json[0] != '{') {
      throw broken("header must begin with {");
    }
    try {
      return STRICT.readTree(json);
    } catch (JacksonException e) {
      throw new ModelFileException(file, "header must be JSON without repeated names: " + e.getOriginalMessage(), e);
    }
  }

  private StoredTensor tensor(String name, JsonNode entry) throws ModelFileException {
    StoredType type = type(name, entry.path("dtype"));
    List<Integer> shape = shape(name, entry.path("shape"));
    List<Long> offsets = longs(name + " data_offsets", entry.path("data_offsets"));
    if (offsets.size() != 2 || offsets.get(0) > offsets.get(1) || offsets.get(1) > dataBytes) {
      throw broken(name + " data_offsets must be begin <= end <= " + dataBytes + " (was " + offsets + ")");
    }
    StoredTensor tensor = new StoredTensor(type, shape, offsets.get(0), offsets.get(1));
    long bytes = bytes(name, tensor);
    if (bytes != tensor.bytes()) {
      throw broken(name + " must have " + bytes + " bytes by its shape and dtype (was " + tensor.bytes() + ")");
    }
    return tensor;
  }

  private StoredType type(String name, JsonNode dtype) throws ModelFileException {
    return Stream.of(StoredType.values()).filter(type -> dtype.isString() && type.name().equals(dtype.stringValue()))
        .findFirst().orElseThrow(() -> broken(name + " dtype must be one of safetensors (was " + dtype + ")"));
  }

  private List<Integer> shape(String name, JsonNode shape) throws ModelFileException {
    List<Integer> axes = new ArrayList<>();
    for (long axis : longs(name + " shape", shape)) {
      if (axis > Integer.MAX_VALUE) {
        throw broken(name + " shape must have axes below 2^31 (was " + axis + ")");
      }
      axes.add((int) axis);
    }
    if (axes.size() > MOST_AXES) {
      throw broken(name + " shape must have at most " + MOST_AXES + " axes (was " + axes.size() + ")");
    }
    return axes;
  }

  private List<Long> longs(String what, JsonNode array) throws ModelFileException {
    if (!array.isArray()) {
      throw broken(what + " must be a list of numbers (was " + array + ")");
    }
    List<Long> values = new ArrayList<>();
    for (JsonNode value : array) {
      if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
        throw broken(what + " must have integers >= 0 (was " + value + ")");
      }
      values.add(value.longValue());
    }
    return values;
  }

  private long bytes(String name, StoredTensor tensor) throws ModelFileException {
    try {
      int[] shape = tensor.shape().stream().mapToInt(Integer::intValue).toArray();
      return Math.multiplyExact(Tensors.elements(shape), tensor.type().bytes());
    } catch (ArithmeticException e) {
      throw new ModelFileException(file, name + " shape must fit in 63 bits (was " + tensor.shape() + ")", e);
    }
  }

  /// Tensors lie side by side: none overlaps another, and no byte belongs to none.
  private void requireCovered(Map<String, StoredTensor> tensors) throws ModelFileException {
    List<Map.Entry<String, StoredTensor>> inOrder = tensors.entrySet().stream()
        .sorted(Comparator.comparingLong((Map.Entry<String, StoredTensor> entry) -> entry.getValue().begin())
            .thenComparingLong(entry -> entry.getValue().end()))
        .toList();
    long at = 0;
    for (Map.Entry<String, StoredTensor> entry : inOrder) {
      if (entry.getValue().begin() != at) {
        throw broken(entry.getKey() + " must begin where the tensor before it ends, at " + at + " (was "
            + entry.getValue().begin() + ")");
      }
      at = entry.getValue().end();
    }
    if (at != dataBytes) {
      throw broken("tensors must end with the file, at " + dataBytes + " (was " + at + ")");
    }
  }

  private ModelFileException broken(String problem) {
    return new ModelFileException(file, problem);
  }
}
