/// The two engines, which keep segments as files: Chronicle Queue, and plain files.
package io.penstock.storage.engine.file;
