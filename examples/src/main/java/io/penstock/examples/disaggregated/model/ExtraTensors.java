package io.penstock.examples.disaggregated.model;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.tensors.Cut;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.TensorSource;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// Tensors of a file that the computation does not read. They are refused, unless they are known to change nothing:
/// rotary angles, which follow from the configuration, and copies of the embedding and of the output matrix.
final class ExtraTensors {
  private final ModelConfig config;
  private final Path folder;
  private final TensorSource source;
  private final Map<String, int[]> shapes;
  /// Name of the tensor that each of these must be a copy of.
  private final Map<String, String> copies = new HashMap<>();

  ExtraTensors(ModelConfig config, Path folder, TensorSource source) {
    this.config = config;
    this.folder = folder;
    this.source = source;
    this.shapes = TensorShapes.of(config);
    String output = config.tiedEmbeddings() ? TensorShapes.EMBEDDING : TensorShapes.OUTPUT;
    if (config.tiedEmbeddings()) {
      copies.put(TensorShapes.OUTPUT, TensorShapes.EMBEDDING);
    }
    if (config.draftLayers() > 0) {
      copies.put(TensorShapes.layer(config.layers()) + "embed_tokens.weight", TensorShapes.EMBEDDING);
      copies.put(TensorShapes.layer(config.layers()) + "shared_head.head.weight", output);
    }
  }

  /// @param names of all tensors of the files
  /// @throws ModelFileException naming the first tensor that could change a number
  void requireUnneeded(Set<String> names) throws ModelFileException {
    Set<String> extra = new TreeSet<>(names);
    extra.removeAll(shapes.keySet());
    extra.removeIf(name -> name.endsWith(".rotary_emb.inv_freq"));
    for (String name : extra) {
      String original = copies.get(name);
      if (original == null) {
        throw new ModelFileException(folder,
            "tensor %s must not be there, since a %s model with this config.json has no such tensor".formatted(name,
                config.family().modelType()));
      }
      requireCopy(name, original);
    }
  }

  private void requireCopy(String name, String original) throws ModelFileException {
    int[] shape = requireNonNull(shapes.get(original), "shape");
    for (int row = 0; row < shape[0]; row++) {
      Cut cut = Cut.rows(row, 1, shape);
      if (!Arrays.equals(source.part(name, cut, shape), source.part(original, cut, shape))) {
        throw new ModelFileException(folder,
            "tensor %s must be a copy of %s (differs in row %d)".formatted(name, original, row));
      }
    }
  }
}
