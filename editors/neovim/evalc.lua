-- Starts `evalc lsp` for eval files. Copy it to ~/.config/nvim/plugin/evalc.lua (Neovim 0.7 or later).

local patterns = {
  "*.eval.yaml", "*.eval.yml", "*.prompt.yaml", "*.prompt.yml", "*.cases.yaml", "*.cases.yml",
  "*.golden.json", "*.labeled.json", "*.regression.json", "*.rubric.json",
}

-- The project: the nearest folder upwards with a configuration or `.git`.
local function project_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  for _, name in ipairs({ "evalc.toml", ".git" }) do
    local found = vim.fn.findfile(name, folder .. ";")
    if found == "" then
      found = vim.fn.finddir(name, folder .. ";")
    end
    if found ~= "" then
      return vim.fn.fnamemodify(found, ":p:h" .. (name == ".git" and ":h" or ""))
    end
  end
  return folder
end

local clients = {}

local function start(buffer)
  local root = project_of(vim.api.nvim_buf_get_name(buffer))
  local config = {
    name = "evalc",
    cmd = { "evalc", "lsp" },
    root_dir = root,
    on_attach = function(_, attached)
      vim.bo[attached].omnifunc = "v:lua.vim.lsp.omnifunc"
    end,
  }
  if vim.lsp.start then -- Neovim 0.8 and later
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  config.workspace_folders = { { uri = vim.uri_from_fname(root), name = root } }
  clients[root] = clients[root] or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, clients[root])
end

vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  pattern = patterns,
  callback = function(event)
    start(event.buf)
  end,
})
