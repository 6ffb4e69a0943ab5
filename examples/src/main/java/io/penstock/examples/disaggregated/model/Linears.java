package io.penstock.examples.disaggregated.model;

import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.TensorSource;

/// The tensors below one prefix of a checkpoint, such as `model.layers.3.self_attn.`
record Linears(TensorSource source, String prefix, float epsilon) {
  /// The matrix `NAME.weight`, stored as `[outputs][inputs]`.
  Matrix load(String name, int outputs, int inputs) throws ModelFileException {
    return Matrix.ofLinear(outputs, inputs, raw(name, outputs, inputs));
  }

  /// The tensor as it is stored.
  float[] raw(String name, int outputs, int inputs) throws ModelFileException {
    return source.tensor(prefix + name + ".weight", outputs, inputs);
  }

  RmsNorm norm(String name, int width) throws ModelFileException {
    return new RmsNorm(source.tensor(prefix + name + ".weight", width), epsilon);
  }

  Linears below(String name) {
    return new Linears(source, prefix + name + ".", epsilon);
  }
}
