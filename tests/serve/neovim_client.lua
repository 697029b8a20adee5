-- Opens a file with the example's plug-in, types, waits for a suggestion, takes it with Tab and ends. Each step is made
-- once what it waits for is there.
vim.g.strop_command = vim.fn.readfile('command.txt')
vim.cmd('source ' .. vim.fn.readfile('plugin.txt')[1])
vim.bo.filetype, vim.bo.fixeol = 'python', false

local function shown()
  for name, space in pairs(vim.api.nvim_get_namespaces()) do
    local mark = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })[1]
    if mark and (name == 'strop' or name == 'nvim.lsp.inline_completion') then
      return { mark[2], mark[3], mark[4].virt_text[1][1] }
    end
  end
end

local before = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
local steps = {
  function()
    return vim.lsp.buf_get_clients(0)[1] ~= nil
  end,
  function()
    vim.api.nvim_input(vim.fn.readfile('keys.txt')[1])
    return true
  end,
  function()
    local found = shown()
    if found then
      vim.fn.writefile({ vim.fn.json_encode(found) }, 'shown.txt')
      vim.api.nvim_input('<Tab>')
    end
    return found
  end,
  function()
    return not shown() and table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') ~= before
  end,
  function()
    vim.api.nvim_input('<Esc>:silent write<CR>:qall<CR>')
    return true
  end,
}
local timer = vim.loop.new_timer()
timer:start(20, 20, vim.schedule_wrap(function()
  if steps[1] and steps[1]() then
    table.remove(steps, 1)
  end
end))
